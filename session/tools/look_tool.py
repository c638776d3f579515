"""The base of the tools that read the project."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from context.project.project import Project
from session.tools.tool import CallContext, ToolResult, ToolSpec


class LookingTool(ABC):
    """A tool that reads, in a thread. A subclass has the specification, the label and the work."""

    SPEC: ClassVar[ToolSpec]

    def __init__(self, project: Project) -> None:
        self._project = project

    @property
    def spec(self) -> ToolSpec:
        """See :class:`session.tools.tool.Tool`."""
        return self.SPEC

    @abstractmethod
    def label(self, arguments: Mapping[str, Any]) -> str:
        """See :class:`session.tools.tool.Tool`."""

    def refusal(self, arguments: Mapping[str, Any]) -> str:
        """See :class:`session.tools.tool.Tool`."""
        return ""

    async def call(self, arguments: Mapping[str, Any], around: CallContext) -> ToolResult:
        """See :class:`session.tools.tool.Tool`."""
        return await asyncio.to_thread(self._look, arguments, around)

    @abstractmethod
    def _look(self, arguments: Mapping[str, Any], around: CallContext) -> ToolResult:
        """Do the work, in a thread."""
