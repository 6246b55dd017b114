/** Gives every part of the page the session, the API of the signed-in user, the connection and the time. */
import { useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, use, useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import { type Api, createApi } from './api.ts';
import { KEY_REFUSED, type PageSession, type Who } from './session.ts';

/** A value that changes outside React and that parts of the page follow. */
class Signal<T> {
  readonly #listeners = new Set<() => void>();
  #value: T;

  constructor(value: T) {
    this.#value = value;
  }

  get = (): T => this.#value;

  set(value: T): void {
    if (Object.is(value, this.#value)) return;
    this.#value = value;
    for (const listener of this.#listeners) listener();
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };
}

/** When the connection was lost, in milliseconds since the Unix epoch; undefined while it is there. */
const lostAt = new Signal<number | undefined>(undefined);
/** The server's clock less ours, in milliseconds. */
const clockOffset = new Signal(0);

export const useLostAt = (): number | undefined => useSyncExternalStore(lostAt.subscribe, lostAt.get);

/** The Date header counts whole seconds and is as old as the answer took, so small differences are none. */
const CLOCK_TOLERANCE_MS = 3000;

const BASE = `${location.origin}/v1`;
const SessionContext = createContext<PageSession | undefined>(undefined);
const ApiContext = createContext<Api | undefined>(undefined);

function need<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`${what} is used outside its provider`);
  return value;
}

export const useSession = (): PageSession => need(use(SessionContext), 'Session');
export const useApi = (): Api => need(use(ApiContext), 'Api');

/** The person or key at this page, followed as it changes. */
export function useWho(): Who {
  const session = useSession();
  return useSyncExternalStore(session.subscribe, () => session.who);
}

/** An API for a key that is not adopted yet: the sign-in card tries it with this. */
export const trialApi = (key: string): Api => createApi(BASE, key);

export function SessionProvider({ session, children }: { session: PageSession; children: ReactNode }) {
  return <SessionContext value={session}>{children}</SessionContext>;
}

/** Gives the API of a key or of a person to everything below. Data that another one has read is forgotten. */
export function ApiProvider({ apiKey, children }: { apiKey: string | undefined; children: ReactNode }) {
  const session = useSession();
  const queries = useQueryClient();
  const api = useMemo(
    () =>
      createApi(BASE, apiKey, {
        reached: (yes) => lostAt.set(yes ? undefined : (lostAt.get() ?? Date.now())),
        clockOffset: (ms) => {
          if (Math.abs(ms - clockOffset.get()) > CLOCK_TOLERANCE_MS)
            clockOffset.set(Math.abs(ms) > CLOCK_TOLERANCE_MS ? ms : 0);
        },
        isOver: () => apiKey === undefined && session.who.isOver,
        refused: () => {
          if (session.key !== apiKey) return;
          if (apiKey === undefined) session.end();
          else session.signOut(KEY_REFUSED);
        },
      }),
    [apiKey, session],
  );
  useEffect(
    () => () => {
      queries.clear();
      lostAt.set(undefined);
    },
    [queries],
  );
  return <ApiContext value={api}>{children}</ApiContext>;
}

/** The server's time in milliseconds since the Unix epoch, renewed each second while `ticking`. */
export function useNow(ticking = true): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!ticking) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, [ticking]);
  return now + useSyncExternalStore(clockOffset.subscribe, clockOffset.get);
}
