// The floor of a relay: one process that copies bytes between two sockets as
// they come, and does nothing else. It accepts on a loopback port of the
// system's choice, which it prints, and connects each client to the upstream.
//
//   floor PORT
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { chunk = 64 << 10 };
static char buffer[chunk];

// end is one direction's reading side; other is where its bytes go.
struct end {
  int fd;
  struct end *other;
};

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static struct sockaddr_in loopback(int port) {
  struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons(port)};
  a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return a;
}

static struct end *watch(int loop, int fd) {
  int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  struct end *e = calloc(1, sizeof *e);
  e->fd = fd;
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = e};
  if (epoll_ctl(loop, EPOLL_CTL_ADD, fd, &event)) fail("epoll_ctl");
  return e;
}

static void take(int loop, int listener, int port) {
  int client = accept(listener, NULL, NULL);
  int upstream = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in a = loopback(port);
  if (client < 0 || upstream < 0 || connect(upstream, (void *)&a, sizeof a)) fail("connect");
  struct end *c = watch(loop, client), *u = watch(loop, upstream);
  c->other = u;
  u->other = c;
}

// copy passes on what is there; it reports 0 at the end of the stream.
static int copy(struct end *e) {
  ssize_t n = read(e->fd, buffer, chunk);
  if (n <= 0) return 0;
  for (ssize_t at = 0; at < n;) {
    ssize_t m = write(e->other->fd, buffer + at, n - at); // waits: sockets block
    if (m <= 0) return 0;
    at += m;
  }
  return 1;
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  int port = atoi(argv[1]), loop = epoll_create1(0), listener = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in a = loopback(0);
  socklen_t size = sizeof a;
  if (bind(listener, (void *)&a, size) || listen(listener, 4096) || getsockname(listener, (void *)&a, &size)) fail("listen");
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
  epoll_ctl(loop, EPOLL_CTL_ADD, listener, &event);
  printf("127.0.0.1:%d\n", ntohs(a.sin_port));
  fflush(stdout);
  for (;;) {
    struct epoll_event ready[64];
    int n = epoll_wait(loop, ready, 64, -1);
    if (n < 0 && errno != EINTR) fail("epoll_wait");
    for (int i = 0; i < n; i++) {
      struct end *e = ready[i].data.ptr;
      if (e == NULL) {
        take(loop, listener, port);
      } else if (e->fd >= 0 && !copy(e)) {
        // Both legs end together. The other end may stand later in this batch:
        // what is left of it is not freed, only marked.
        struct end *o = e->other;
        close(e->fd);
        close(o->fd);
        e->fd = o->fd = -1;
      }
    }
  }
}
