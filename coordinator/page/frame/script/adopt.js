function (roots) {
  // Keeps closed shadow roots, which the browser has reported: their elements can be seen and
  // acted on like those of open ones.
  for (const root of roots) {
    const host = root.$host;
    if (memory.closedRoots.has(host)) continue;
    memory.closedRoots.set(host, root);
    memory.hosts.push(new WeakRef(host));
    memory.watch?.look(host);
  }
}
