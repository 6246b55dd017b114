/** Names the support of the service in sentences. Pure: no I/O, no clock. */

/** `help@example.com` for a mailbox; a page is named by its address. Without one, it is the support of the service. */
export function nameSupport(url: string | undefined): string {
  if (url === undefined) return 'the support of the service';
  const { protocol, pathname } = new URL(url);
  return protocol === 'mailto:' ? decodeURIComponent(pathname) : url;
}
