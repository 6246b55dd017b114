/** Keeps the cookies of one import, and returns each to the host that set it and to no other. */
import { Cookie, CookieJar } from 'tough-cookie';

/** More than any share link needs; further cookies of a server are dropped. */
const MAX_COOKIES = 50;
const MAX_COOKIE_CHARS = 4096;

export class Cookies {
  // By host: other hosts would see a cookie for a whole domain.
  readonly #jars = new Map<string, CookieJar>();
  #count = 0;

  /** Stores the Set-Cookie headers of an answer; skips values that are no cookie, or that this host may not set. */
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

  /** Returns the Cookie header of a request; undefined where there is nothing to send. */
  async header(url: URL): Promise<string | undefined> {
    return (await this.#jars.get(url.host)?.getCookieString(url.href)) || undefined;
  }
}
