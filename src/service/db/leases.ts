/**
 * Leases jobs that only one of all servers may do at a time, such as receiving the bytes of an upload. The holder
 * renews its lease, and another server that wants it asks the holder to stop. The lease of a server that died expires
 * after LEASE_MS.
 *
 * A row holds the lease, not an advisory lock of Postgres: such a lock would occupy one of a few connections, and an
 * upload may take hours.
 */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { sleep } from '../../core/lib/clock.ts';
import type { Db } from './pool.ts';

const LEASE_MS = 10_000;
/** The holder learns within this time that another server wants the lease. */
const RENEW_MS = 1_000;
const FIRST_POLL_MS = 20;
const MAX_POLL_MS = 500;
/** A note outlives its lease for this long. */
const NOTE_KEPT = "interval '1 hour'";

export interface Lease {
  /** The note of the previous holder. */
  note: string | undefined;
  /** False as soon as another server may have it: it could not be renewed in time. */
  isHeld(): boolean;
  /** Gives the lease back, with a note for the next holder. If this fails, the lease expires by itself. */
  release(note?: string): Promise<void>;
}

export interface Leases {
  /**
   * Waits until it is free. `askToEnd` is called, again and again, while another one wants it and when it is lost. Rejects
   * with the signal's reason, or with the database's error.
   */
  take(name: string, options: { signal: AbortSignal; askToEnd?: () => void }): Promise<Lease>;
}

export function createLeases(db: Db): Leases {
  const claim = async (name: string, holder: string): Promise<{ note: string | null } | undefined> => {
    const { rows } = await sql<{ note: string | null }>`
      insert into loopstream.leases as l (name, holder, until) values (${name}, ${holder}, ${sql.raw(inMs(LEASE_MS))})
      on conflict (name) do update set holder = excluded.holder, until = excluded.until, asked = false
        where l.until <= now()
      returning note`.execute(db);
    return rows[0];
  };
  const ask = (name: string) =>
    sql`update loopstream.leases set asked = true where name = ${name} and not asked`.execute(db);
  const renew = async (name: string, holder: string): Promise<{ asked: boolean } | undefined> => {
    const { rows } = await sql<{ asked: boolean }>`
      update loopstream.leases set until = ${sql.raw(inMs(LEASE_MS))}
      where name = ${name} and holder = ${holder} returning asked`.execute(db);
    return rows[0];
  };
  const giveBack = async (name: string, holder: string, note: string | undefined): Promise<void> => {
    if (note !== undefined)
      await sql`update loopstream.leases set until = now(), note = ${note}
        where name = ${name} and holder = ${holder}`.execute(db);
    // This also removes the leases of servers that died.
    await sql`delete from loopstream.leases
      where (name = ${name} and holder = ${holder} and ${note === undefined})
        or until < now() - ${sql.raw(NOTE_KEPT)}`.execute(db);
  };

  const hold = (name: string, holder: string, since: number, askToEnd: () => void) => {
    let until = since + LEASE_MS;
    let busy = false;
    const isHeld = () => performance.now() < until;
    const again = async () => {
      if (!isHeld()) askToEnd();
      if (busy) return;
      busy = true;
      const at = performance.now();
      try {
        const row = await renew(name, holder);
        if (row?.asked !== false) askToEnd();
        until = row ? at + LEASE_MS : 0;
      } catch {
        // The database is away: the lease is held for as long as it was promised.
      }
      busy = false;
    };
    const timer = setInterval(() => void again(), RENEW_MS);
    const release = async (note?: string) => {
      clearInterval(timer);
      until = 0;
      await giveBack(name, holder, note).catch(() => undefined);
    };
    return { isHeld, release };
  };

  return {
    async take(name, { signal, askToEnd = () => undefined }) {
      const holder = randomUUID();
      for (let pause = FIRST_POLL_MS; ; pause = Math.min(MAX_POLL_MS, pause * 1.5)) {
        signal.throwIfAborted();
        const since = performance.now();
        const claimed = await claim(name, holder);
        if (claimed) {
          const lease = { note: claimed.note ?? undefined, ...hold(name, holder, since, askToEnd) };
          if (!signal.aborted) return lease;
          await lease.release();
          continue;
        }
        await ask(name);
        // The random part keeps the same waiter from losing every time.
        await sleep(pause * (0.5 + Math.random()), signal);
      }
    },
  };
}

const inMs = (ms: number): string => `now() + interval '${ms} milliseconds'`;

/**
 * Takes a lease for work that others want all the time: only its loss ends the work. `signal` aborts then, and with `stopping`. The
 * caller releases the lease.
 */
export async function takeForWork(
  leases: Leases,
  name: string,
  stopping: AbortSignal,
): Promise<{ lease: Lease; signal: AbortSignal }> {
  const lost = new AbortController();
  let held: Lease | undefined;
  const askToEnd = () => {
    if (held?.isHeld() === false) lost.abort(new Error(`another process took the lease of ${name}`));
  };
  const lease = await leases.take(name, { signal: stopping, askToEnd });
  held = lease;
  return { lease, signal: AbortSignal.any([stopping, lost.signal]) };
}
