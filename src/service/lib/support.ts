/** Names the support of the service in sentences. Pure: no I/O, no clock. */

/** `help@example.com` for a mailbox; a page is named by its address. */
export function nameSupport(url: string): string {
  const { protocol, pathname } = new URL(url);
  return protocol === 'mailto:' ? decodeURIComponent(pathname) : url;
}
