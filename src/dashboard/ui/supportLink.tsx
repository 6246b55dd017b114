/** Names whom to ask for help or credit. */

/** `help@example.com` for a mailbox, `example.com` for a page. */
const nameSupport = (url: string): string => {
  const { protocol, pathname, host } = new URL(url);
  return protocol === 'mailto:' ? decodeURIComponent(pathname) : host;
};

/** The support of the service, as a link where the operators have set one. It ends no sentence. */
export function SupportLink({ url }: { url: string | null | undefined }) {
  if (!url) return <>the operators of this service</>;
  return <a href={url}>{nameSupport(url)}</a>;
}
