"""A student's own server under JupyterHub: restricted JupyterLab, closed to others."""

from __future__ import annotations

from typing import Any, Final

from jupyterhub.singleuser.extension import JupyterHubSingleUser

from linklab.jupyter_server import hide, terminals

IDLE_S: Final = 3600
"""A kernel that does nothing for so long, and has no page open, is ended, and with it its labs; then the server."""
HIDDEN: Final = "@jupyterlab/debugger-extension"
"""Besides what `linklab up` hides: debugpy listens on loopback, and lets every user of the machine run code."""
_LOOK_S: Final = 300


class StudentServer(JupyterHubSingleUser):  # type: ignore[misc]
    """JupyterHub's server extension with Linklab's settings, which come before those of the student's own files."""

    @classmethod
    def get_extension_package(cls) -> str:
        """Return the module that Jupyter asks for the extension, which is this one."""
        return __name__

    def load_config_file(self) -> None:
        """Add ours to what JupyterHub sets."""
        server, kernels = self.config.ServerApp, self.config.MappingKernelManager
        # sockets in a folder of the student's: over TCP every user of the machine could read what kernels print
        self.config.KernelManager.transport = "ipc"
        kernels.cull_idle_timeout, kernels.cull_interval = IDLE_S, _LOOK_S
        server.shutdown_no_activity_timeout = IDLE_S
        server.terminado_settings = terminals()
        super().load_config_file()

    def initialize(self, args: list[str] | None = None) -> None:
        """Hide parts of the page, once JupyterHub has told it whose server it is."""
        super().initialize(args)
        settings = self.serverapp.web_app.settings
        told = settings["page_config_hook"]

        def hook(handler: object, page_config: dict[str, Any]) -> dict[str, Any]:
            page_config = hide(handler, told(handler, page_config))
            page_config["disabledExtensions"] = [*page_config["disabledExtensions"], HIDDEN]
            return page_config

        settings["page_config_hook"] = hook


def _jupyter_server_extension_points() -> list[dict[str, Any]]:
    """Return what Jupyter asks a module for that is an extension."""
    return [{"module": __name__, "app": StudentServer}]
