/** Keeps the cookies of one import, and gives each back to the host that set it and to no other. */
import { Cookie, CookieJar } from 'tough-cookie';

/** More than any share link needs; a server that sets more is left with the first ones. */
const MAX_COOKIES = 50;
const MAX_COOKIE_CHARS = 4096;

export class Cookies {
  // By host: a cookie for a whole domain would be seen by hosts that did not set it.
  readonly #jars = new Map<string, CookieJar>();
  #count = 0;

  /** Takes the Set-Cookie headers of an answer; passes over what is no cookie, or is not for this host to set. */
  async take(headers: string | string[] | undefined, url: URL): Promise<void> {
    for (const text of [headers ?? []].flat()) {
      const cookie = text.length <= MAX_COOKIE_CHARS ? Cookie.parse(text) : undefined;
      if (!cookie || this.#count >= MAX_COOKIES) continue;
      const jar = this.#jars.get(url.host) ?? new CookieJar(undefined, { rejectPublicSuffixes: true });
      this.#jars.set(url.host, jar);
      const kept = await jar.setCookie(cookie, url.href, { ignoreError: true });
      if (kept) this.#count++;
    }
  }

  /** The header Cookie for a request; undefined where there is none to send. */
  async header(url: URL): Promise<string | undefined> {
    return (await this.#jars.get(url.host)?.getCookieString(url.href)) || undefined;
  }
}
