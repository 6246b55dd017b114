/**
 * Knows who is at this page: a person who has signed in, or the holder of an API key. The browser keeps the person's cookie,
 * and this program never sees it. The key comes from the address's fragment (`#key=lsk_…`, which browsers never send to a
 * server) or from the sign-in card. It lives in sessionStorage, and comes before the person. A key of a link to a page of this machine
 * is also exchanged for a cookie, so that other tabs are signed in too; in those this program never sees it.
 */
import { DRAFTS_KEY } from '../lib/drafts/store.ts';
import type { TabStorage } from '../lib/tabStorage.ts';

const STORAGE_KEY = 'loopstream.key';

/** The key in a fragment such as `#key=lsk_abc`, and the fragment that is left without it. Pure. */
export function keyFromFragment(hash: string): { key: string | undefined; rest: string } {
  const fields = new URLSearchParams(hash.replace(/^#/, ''));
  const key = fields.get('key')?.trim() || undefined;
  if (key === undefined) return { key, rest: hash };
  fields.delete('key');
  const rest = fields.toString();
  return { key, rest: rest && `#${rest}` };
}

/** Set while somebody is signed in, in any tab. */
const PERSON_KEY = 'loopstream.person';
const FOREIGN_KEY =
  'The link has an API key in it. If you go on, this tab works in the account of that key, which may be another one than ' +
  'yours: its owner sees what you upload, enter and pay there. Go on only if the key is your own.';

export const KEY_REFUSED = 'Your API key is no longer accepted. Sign in with another one.';

/** A person who has signed in. */
export interface Person {
  id: string;
  email: string;
  firstName: string;
  lastName: string | null;
}

type SessionListener = () => void;

/** The part of the browser that the session needs, so that it can be tested without one. */
export interface SessionHost {
  hash: string;
  /** Puts another fragment into the address bar, without an entry in the history. */
  replaceHash: (hash: string) => void;
  storage: TabStorage;
  /** Kept for all tabs of the browser. */
  shared: TabStorage;
  /** Whether the page comes from this machine, as that of `make run` does. */
  isLocal: boolean;
  /** Asks the user a question, and returns whether they agree. */
  confirm: (question: string) => boolean;
  /** Has the browser keep the key for other tabs. */
  keepKey: (key: string) => void;
  forgetKey: () => void;
  /** Tells the other tabs of the browser who has signed in; null for nobody. */
  tellOthers: (personId: string | null) => void;
}

/** One value, so that all parts of the page see the same. */
export interface Who {
  readonly key: string | undefined;
  /** Undefined until the server has been asked; null when nobody has signed in. */
  readonly person: Person | null | undefined;
  /** The browser keeps a key in a cookie, and nobody has signed in. */
  readonly hasKeptKey: boolean;
  /** The session ended while the person used the page. The page stays as it is until they are back. */
  readonly isOver: boolean;
  /** Why the last session ended, for the sign-in card. */
  readonly notice: string | undefined;
}

export class PageSession {
  readonly #host: SessionHost;
  readonly #storage: SessionHost['storage'];
  readonly #listeners = new Set<SessionListener>();
  #who: Who;
  /** The user has signed out here, so a key that the browser is about to forget counts for nothing. */
  #hasLeft = false;

  constructor(host: SessionHost) {
    this.#host = host;
    this.#storage = host.storage;
    const key = host.storage.getItem(STORAGE_KEY) ?? undefined;
    this.#who = { key, person: undefined, hasKeptKey: false, isOver: false, notice: undefined };
    this.adopt(host);
  }

  get who(): Who {
    return this.#who;
  }

  /** Whether the browser may keep a key for this page: on this machine alone. */
  get keepsKeys(): boolean {
    return this.#host.isLocal;
  }

  get key(): string | undefined {
    return this.#who.key;
  }

  /** Why the last session ended, for the sign-in card. */
  get notice(): string | undefined {
    return this.#who.notice;
  }

  /**
   * Takes the key out of the address, if there is one; also when a person pastes such an address into an open page. Any
   * page may link here with its maker's key, and the user would continue in that account. So the user has to confirm,
   * except on a local page where nobody has signed in.
   */
  adopt(host: Pick<SessionHost, 'hash' | 'replaceHash'>): boolean {
    const { key, rest } = keyFromFragment(host.hash);
    if (key === undefined) return false;
    host.replaceHash(rest);
    const { isLocal, shared, confirm } = this.#host;
    const isHarmless = key === this.key || (isLocal && shared.getItem(PERSON_KEY) === null);
    if (!isHarmless && !confirm(FOREIGN_KEY)) return false;
    if (isHarmless && isLocal) this.#host.keepKey(key);
    this.signIn(key);
    return true;
  }

  signIn(key: string): void {
    this.#hasLeft = false;
    this.#storage.setItem(STORAGE_KEY, key);
    this.#set({ key, notice: undefined });
  }

  /** Takes the server's answer to who has signed in, and where nobody has, whether the browser keeps a key. */
  knowPerson(person: Person | null, hasKeptKey = false): void {
    if (person && (person.id !== this.#who.person?.id || this.#who.isOver)) this.#host.tellOthers(person.id);
    const isIn = person !== null || (hasKeptKey && !this.#hasLeft);
    this.#set({ person, hasKeptKey: isIn && person === null, isOver: false, ...(isIn && { notice: undefined }) });
  }

  /** The server no longer knows the person's session, or the key that the browser keeps. */
  end(): void {
    if (this.#who.hasKeptKey) this.signOut(KEY_REFUSED);
    else if (this.#who.person && !this.#who.key) this.#set({ isOver: true });
  }

  /**
   * Forgets the user and their drafts; drafts stay where the sign-out was not the user's own (`notice` says why). The page asks for
   * sign-in again where a key is gone.
   */
  signOut(notice?: string): void {
    if (this.#who.key === undefined && (this.#who.person || this.#who.hasKeptKey)) this.#host.tellOthers(null);
    this.#storage.removeItem(STORAGE_KEY);
    this.#hasLeft = true;
    if (this.keepsKeys) this.#host.forgetKey();
    if (notice === undefined) this.#storage.removeItem(DRAFTS_KEY);
    const person = this.#who.key === undefined ? null : undefined;
    this.#set({ key: undefined, person, hasKeptKey: false, isOver: false, notice });
  }

  /** Takes the news of another tab, whose person shares the cookie. The key of a tab is its own. */
  hearOthers(personId: string | null): void {
    const { key, person, hasKeptKey, isOver } = this.#who;
    if (key !== undefined) return;
    if (personId === null) {
      if (!person && !hasKeptKey) return;
      this.#storage.removeItem(DRAFTS_KEY);
      this.#set({ person: null, hasKeptKey: false, isOver: false, notice: 'You signed out in another tab.' });
    } else if (person?.id === personId) {
      if (isOver) this.#set({ isOver: false });
    } else {
      // Drafts are those of the one who leaves. The server says who has come.
      if (person) this.#storage.removeItem(DRAFTS_KEY);
      this.#set({ person: undefined, isOver: false, notice: undefined });
    }
  }

  subscribe = (listener: SessionListener): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  #set(change: Partial<Who>): void {
    if (change.person) this.#host.shared.setItem(PERSON_KEY, 'true');
    else if (change.person === null) this.#host.shared.removeItem(PERSON_KEY);
    this.#who = { ...this.#who, ...change };
    for (const listener of this.#listeners) listener();
  }
}
