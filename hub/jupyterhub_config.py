"""JupyterHub for a class on one machine: each student's server runs as that ordinary user, without any privilege.

    sudo make hub                    # installs what is missing, then: .venv/bin/jupyterhub -f hub/jupyterhub_config.py

The hub listens on this machine alone. For others give an address and a certificate, on the command line or in
/etc/linklab/jupyterhub_config.py, which is read last and may set whatever JupyterHub knows:

    sudo make hub HUB="--ip 0.0.0.0 --port 443 --ssl-cert FILE --ssl-key FILE"

docs/jupyterhub.md has the rest.
"""

import os
import sys
from pathlib import Path

from linklab.errors import LinklabError
from linklab.hub import machine

c = get_config()  # noqa: F821 - JupyterHub reads this file with that name

SHARED = "/var/lib/linklab"
os.environ.setdefault("XDG_CACHE_HOME", f"{SHARED}/cache")  # where `make hub` puts the lab image for all
try:
    paths = machine.prepare(Path(SHARED))
except LinklabError as error:
    sys.exit(f"linklab: {error}")

# The hub, its proxy and the students' servers speak on loopback. linklab.hub.proxy refuses other addresses without TLS.
c.JupyterHub.ip = "127.0.0.1"
c.JupyterHub.proxy_class = "linklab.hub.proxy.GuardedProxy"

# What the hub keeps, for root alone.
c.JupyterHub.db_url = f"sqlite:///{paths.state}/jupyterhub.sqlite"
c.JupyterHub.cookie_secret_file = f"{paths.state}/cookie_secret"
c.ConfigurableHTTPProxy.pid_file = f"{paths.state}/proxy.pid"

# Who has an account and a password on this machine may log in, but for root. To let a group in alone, say
# c.Authenticator.allow_all = False and c.LocalAuthenticator.allowed_groups = {"students"}.
c.JupyterHub.authenticator_class = "pam"
c.Authenticator.allow_all = True
c.Authenticator.blocked_users = {"root"}
# They may see who is there, start and stop servers; not look into them.
c.PAMAuthenticator.admin_groups = {"sudo"}

# A student's server: an ordinary process of the student.
c.JupyterHub.spawner_class = "localprocess"
c.Spawner.cmd = [sys.executable, "-m", "linklab.hub.start"]
c.Spawner.notebook_dir = "~/labs"
c.Spawner.environment = {
    "LINKLAB_IMAGE": str(paths.image),  # one for all: nobody builds another
    "LINKLAB_SIMPLEPERF": str(paths.simpleperf),
    "PATH": os.pathsep.join([f"{sys.prefix}/bin", "/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin"]),
}
# All servers have one address in the browser, so a student's own settings could speak to others' servers.
c.Spawner.disable_user_config = True
# A machine on which a class logs in at once is busy.
c.Spawner.start_timeout = c.Spawner.http_timeout = 120


def hand_out(spawner):  # noqa: ANN001, ANN201 - a setting of JupyterHub, whose classes carry no types
    """Says which labs the student gets, and shows on the page why there are none."""
    try:
        spawner.environment["LINKLAB_RELEASED_LABS"] = str(machine.hand_out(paths.labs, spawner.user.name))
    except LinklabError as error:
        error.jupyterhub_message = str(error)
        raise


c.Spawner.pre_spawn_hook = hand_out

if os.path.exists("/etc/linklab/jupyterhub_config.py"):
    load_subconfig("/etc/linklab/jupyterhub_config.py")  # noqa: F821
