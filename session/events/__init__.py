"""The one vocabulary of what happens in a session.

The journal stores these events, ``--json`` prints them, and every front end renders nothing else.
Each is a frozen value with a ``type`` tag; :func:`to_dict` and :func:`from_dict` are the JSON form.
Readers ignore types and fields they do not know, so adding either is always safe.
"""

# An event is listed nowhere but where it is defined: these modules define nothing else.
from session.events.compaction import *  # noqa: F403
from session.events.context import *  # noqa: F403
from session.events.event import Event as Event
from session.events.hunks import *  # noqa: F403
from session.events.link import *  # noqa: F403
from session.events.record import event_types as event_types
from session.events.record import from_dict as from_dict
from session.events.record import to_dict as to_dict
from session.events.tools import *  # noqa: F403
from session.events.turns import *  # noqa: F403
