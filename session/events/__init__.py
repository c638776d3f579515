"""The events of a session: everything that happens in it.

The journal stores these events, ``--json`` prints them, and front ends show nothing else. Each is a frozen
value with a ``type`` tag; :func:`to_dict` and :func:`from_dict` convert it to and from JSON. Readers ignore
types and fields that they do not know, so adding either is always safe.
"""

# Events are not listed here a second time: these modules define nothing but events.
from session.events.attempts import *
from session.events.checks import *
from session.events.commands import *
from session.events.compaction import *
from session.events.context import *
from session.events.event import Event as Event
from session.events.event import Publisher as Publisher
from session.events.findings import *
from session.events.hunks import *
from session.events.link import *
from session.events.record import event_types as event_types
from session.events.record import from_dict as from_dict
from session.events.record import to_dict as to_dict
from session.events.sharing import *
from session.events.tools import *
from session.events.trust import *
from session.events.turns import *
