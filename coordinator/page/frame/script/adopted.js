function () {
  // How many closed shadow roots of the document are kept, see adopt.
  memory.hosts = memory.hosts.filter((host) => host.deref());
  return memory.hosts.filter((host) => host.deref()?.$isConnected).length;
}
