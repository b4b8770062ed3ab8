// Failing calls on sockets and epoll.
#include "counting.h"

#include <dlfcn.h>
#include <netdb.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

#define OWN is_own(__builtin_return_address(0))
#define FAILS(call, ...) (OWN && STRIKES(call, fault, __VA_ARGS__))

static int failed(int code) {
  errno = code;
  return -1;
}

int socket(int domain, int type, int protocol) {
  struct fault fault;
  if (FAILS("socket", E(EMFILE), E(ENFILE), E(ENOBUFS), E(ENOMEM), E(EACCES), E(EAFNOSUPPORT)))
    return failed(fault.code);
  return NEXT(socket)(domain, type, protocol);
}

int setsockopt(int fd, int level, int option, const void *value, socklen_t length) {
  struct fault fault;
  if (FAILS("setsockopt", E(ENOPROTOOPT), E(ENOMEM))) return failed(fault.code);
  return NEXT(setsockopt)(fd, level, option, value, length);
}

int connect(int fd, const struct sockaddr *address, socklen_t length) {
  struct fault fault;
  if (FAILS("connect", E(ECONNREFUSED), E(ENETUNREACH), E(EHOSTUNREACH), E(ETIMEDOUT), E(EADDRNOTAVAIL), E(EAGAIN),
            E(EACCES), E(EPERM), E(ENOBUFS)))
    return failed(fault.code);
  return NEXT(connect)(fd, address, length);
}

// The only option that the program reads is SO_ERROR, whose value is the reason why connecting failed.
int getsockopt(int fd, int level, int option, void *value, socklen_t *length) {
  struct fault fault;
  if (FAILS("getsockopt", E(ECONNREFUSED), E(ETIMEDOUT), E(EHOSTUNREACH), E(ECONNRESET), {SHAPE_NOTHING, ENOBUFS})) {
    if (fault.shape == SHAPE_NOTHING) return failed(fault.code);
    *(int *)value = fault.code;
    return 0;
  }
  return NEXT(getsockopt)(fd, level, option, value, length);
}

int getsockname(int fd, struct sockaddr *address, socklen_t *length) {
  struct fault fault;
  if (FAILS("getsockname", E(ENOBUFS))) return failed(fault.code);
  return NEXT(getsockname)(fd, address, length);
}

int getpeername(int fd, struct sockaddr *address, socklen_t *length) {
  struct fault fault;
  if (FAILS("getpeername", E(ENOTCONN), E(ENOBUFS))) return failed(fault.code);
  return NEXT(getpeername)(fd, address, length);
}

ssize_t send(int fd, const void *bytes, size_t count, int flags) {
  struct fault fault;
  if (FAILS("send", E(EAGAIN), E(EINTR), E(EPIPE), E(ECONNRESET), E(ENOBUFS), E(ENOMEM), SHORT)) {
    if (fault.shape == SHAPE_ERROR) return failed(fault.code);
    count = 1;
  }
  return NEXT(send)(fd, bytes, count, flags);
}

ssize_t recv(int fd, void *buffer, size_t count, int flags) {
  struct fault fault;
  if (FAILS("recv", E(EAGAIN), E(EINTR), E(ECONNRESET), E(ETIMEDOUT), E(ENOMEM), SHORT, NOTHING)) {
    if (fault.shape == SHAPE_ERROR) return failed(fault.code);
    if (fault.shape == SHAPE_NOTHING) return 0;
    count = 1;
  }
  return NEXT(recv)(fd, buffer, count, flags);
}

ssize_t sendfile(int fd, int file, off_t *offset, size_t count) {
  struct fault fault;
  if (FAILS("sendfile", E(EAGAIN), E(EINTR), E(EPIPE), E(ECONNRESET), E(EIO), E(ENOMEM), E(EINVAL), SHORT, NOTHING)) {
    if (fault.shape == SHAPE_ERROR) return failed(fault.code);
    if (fault.shape == SHAPE_NOTHING) return 0;
    count = 1;
  }
  return NEXT(sendfile)(fd, file, offset, count);
}

int epoll_create1(int flags) {
  struct fault fault;
  if (FAILS("epoll_create1", E(EMFILE), E(ENFILE), E(ENOMEM))) return failed(fault.code);
  return NEXT(epoll_create1)(flags);
}

int eventfd(unsigned int count, int flags) {
  struct fault fault;
  if (FAILS("eventfd", E(EMFILE), E(ENFILE), E(ENOMEM))) return failed(fault.code);
  return NEXT(eventfd)(count, flags);
}

// The descriptor that was registered last with epoll. A spurious event reports this descriptor as ready.
static _Atomic uint64_t last_token;
static atomic_int last_number = -1;

int epoll_ctl(int poller, int operation, int fd, struct epoll_event *event) {
  struct fault fault;
  // The kernel can always remove a descriptor.
  if (operation != EPOLL_CTL_DEL && FAILS("epoll_ctl", E(ENOMEM), E(ENOSPC))) return failed(fault.code);
  int result = NEXT(epoll_ctl)(poller, operation, fd, event);
  if (OWN && result == 0 && operation != EPOLL_CTL_DEL) {
    last_token = event->data.u64;
    last_number = fd;
  }
  return result;
}

int epoll_wait(int poller, struct epoll_event *events, int count, int milliseconds) {
  struct fault fault;
  if (!OWN) return NEXT(epoll_wait)(poller, events, count, milliseconds);
  if (STRIKES("epoll_wait", fault, E(EINTR), SPURIOUS, NOTHING)) {
    if (fault.shape == SHAPE_ERROR) return failed(fault.code);
    if (fault.shape == SHAPE_NOTHING) return 0;
    // Reports the descriptor as readable and writable, although it may be neither.
    if (last_number >= 0) {
      events[0] = (struct epoll_event){.events = EPOLLIN | EPOLLOUT, .data.u64 = last_token};
      return 1;
    }
  }
  set_waiting(milliseconds);
  int result = NEXT(epoll_wait)(poller, events, count, milliseconds);
  set_waiting(-2);
  return result;
}

int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **list) {
  struct fault fault;
  if (FAILS("getaddrinfo", E(EAI_NONAME), E(EAI_AGAIN), E(EAI_FAIL), E(EAI_MEMORY), {SHAPE_NOTHING, EMFILE})) {
    *list = NULL;
    errno = fault.shape == SHAPE_NOTHING ? fault.code : 0;
    return fault.shape == SHAPE_NOTHING ? EAI_NONAME : fault.code;
  }
  return NEXT(getaddrinfo)(node, service, hints, list);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument) {
  struct fault fault;
  if (FAILS("pthread_create", E(EAGAIN))) return fault.code;
  return NEXT(pthread_create)(thread, attributes, body, argument);
}
