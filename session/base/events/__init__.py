"""The events of a session: everything that happens in it.

The journal stores these events, ``--json`` prints them, and front ends show nothing else. Each is a frozen
value with a ``type`` tag; :func:`to_dict` and :func:`from_dict` convert it to and from JSON. Readers ignore
types and fields that they do not know, so adding either is always safe.
"""

# Events are not listed here a second time: these modules define nothing but events.
from session.base.events.attempts import *
from session.base.events.checks import *
from session.base.events.commands import *
from session.base.events.event import Event as Event
from session.base.events.event import Publisher as Publisher
from session.base.events.event import event_types as event_types
from session.base.events.event import from_dict as from_dict
from session.base.events.event import to_dict as to_dict
from session.base.events.hunks import *
from session.base.events.link import *
from session.base.events.project import *
from session.base.events.turns import *
