/**
 * The API key of this tab. It comes from the address's fragment (`#key=lsk_…`, which browsers never send to a server) or
 * from the sign-in card, and lives in sessionStorage: a new tab or a closed browser asks again.
 */
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

type Listener = () => void;

/** What is needed of the browser, so that the session can be tried without one. */
export interface SessionHost {
  hash: string;
  /** Puts another fragment into the address bar, without an entry in the history. */
  replaceHash: (hash: string) => void;
  storage: {
    getItem(key: string): string | null;
    setItem(key: string, value: string): void;
    removeItem(key: string): void;
  };
}

export class Session {
  readonly #storage: SessionHost['storage'];
  readonly #listeners = new Set<Listener>();
  #key: string | undefined;
  #notice: string | undefined;

  constructor(host: SessionHost) {
    this.#storage = host.storage;
    this.#key = host.storage.getItem(STORAGE_KEY) ?? undefined;
    this.adopt(host);
  }

  get key(): string | undefined {
    return this.#key;
  }

  /** Why the last session ended, for the sign-in card. */
  get notice(): string | undefined {
    return this.#notice;
  }

  /** Takes the key out of the address, if there is one; also when a person pastes such an address into an open page. */
  adopt(host: Pick<SessionHost, 'hash' | 'replaceHash'>): boolean {
    const { key, rest } = keyFromFragment(host.hash);
    if (key === undefined) return false;
    host.replaceHash(rest);
    this.signIn(key);
    return true;
  }

  signIn(key: string): void {
    this.#storage.setItem(STORAGE_KEY, key);
    this.#set(key, undefined);
  }

  signOut(notice?: string): void {
    this.#storage.removeItem(STORAGE_KEY);
    this.#set(undefined, notice);
  }

  subscribe = (listener: Listener): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  #set(key: string | undefined, notice: string | undefined): void {
    this.#key = key;
    this.#notice = notice;
    for (const listener of this.#listeners) listener();
  }
}
