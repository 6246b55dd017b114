/** Says whom to ask for help or credit. */
import { useOptions } from './queries.ts';

/** `help@example.com` for a mailbox, `example.com` for a page. */
const nameSupport = (url: string): string => {
  const { protocol, pathname, host } = new URL(url);
  return protocol === 'mailto:' ? decodeURIComponent(pathname) : host;
};

/** The support of the service, as a link where the operators have set one. It ends no sentence. */
export function Support() {
  const url = useOptions()?.supportUrl;
  if (!url) return <>the operators of this service</>;
  return <a href={url}>{nameSupport(url)}</a>;
}
