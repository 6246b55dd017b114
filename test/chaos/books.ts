/** Reads the state of the database and Kubernetes at the end of a run. */

import { createKube } from '../../src/core/kube/client.ts';
import { LOOPSTREAMS, type LoopStream } from '../../src/core/resources/stream/resource.ts';
import { environment } from '../../src/core/settings/environment.ts';
import { MAIN } from '../../tools/local/context.ts';
import { NAMESPACE } from '../../tools/local/rights.ts';
import { run } from '../../tools/process/run.ts';
import { query } from '../kit/real/postgres.ts';
import type { Chain } from './chain.ts';
import type { Stage } from './stage.ts';
import type { Deposits, SessionFacts } from './verdict.ts';

export async function readStreams({ kubeconfig }: Stage): Promise<Map<string, LoopStream>> {
  const kube = createKube({ kubeconfig });
  try {
    const all = await kube.list(LOOPSTREAMS, { namespace: NAMESPACE });
    return new Map(all.map((stream) => [stream.metadata.name, stream]));
  } finally {
    await kube.close();
  }
}

async function number(url: string, sql: string): Promise<number> {
  const [row] = await query(url, sql);
  return Number(row?.n);
}

export const countEntries = ({ databaseUrl }: Stage): Promise<number> =>
  number(databaseUrl, 'select count(*) as n from loopstream.ledger_entries');

export const countPayments = ({ databaseUrl }: Stage): Promise<number> =>
  number(databaseUrl, `select count(*) as n from loopstream.crypto_payments where state = 'credited'`);

/** Returns whether every session is closed, and counted as reported. */
export async function isCounted(stage: Stage): Promise<boolean> {
  const streams = [...(await readStreams(stage)).values()];
  const told = streams.flatMap(({ status }) => status?.sessions ?? []);
  const counted = await number(
    stage.databaseUrl,
    'select coalesce(sum(seconds), 0) as n from loopstream.meter_sessions',
  );
  const isClosed = told.every(({ endedAt }) => endedAt !== undefined);
  return isClosed && Math.abs(counted - told.reduce((sum, { onAirSeconds }) => sum + onAirSeconds, 0)) < 0.01;
}

interface ChargeRow {
  session: string;
  seconds: number;
  entries: number;
}

/** Reads charges from the ledger alone, independent of the meter's own counts. */
export async function readSessions({ databaseUrl }: Stage, stream: LoopStream): Promise<SessionFacts[]> {
  const rows = (await query(
    databaseUrl,
    `select t.details->>'session' as session, sum((t.details->>'seconds')::numeric)::float as seconds,
      sum((select count(*) from loopstream.ledger_entries e where e.transaction_id = t.id))::int as entries
      from loopstream.ledger_transactions t
      where t.kind = 'charge' and t.key like 'charge:${stream.metadata.uid}:%' group by 1`,
  )) as unknown as ChargeRow[];
  return (stream.status?.sessions ?? []).map(({ number: session, startedAt, endedAt, onAirSeconds }) => {
    const charged = rows.find((row) => row.session === String(session));
    return {
      number: session,
      startedAt,
      endedAt,
      toldSeconds: onAirSeconds,
      chargedSeconds: charged?.seconds ?? 0,
      entries: charged?.entries ?? 0,
    };
  });
}

/** Returns charges of a session that begin before the end of the one before. */
export const countTwice = ({ databaseUrl }: Stage): Promise<number> =>
  number(
    databaseUrl,
    `select count(*) as n from (select (details->>'from')::timestamptz as begins, lag((details->>'to')::timestamptz)
        over (partition by split_part(key, ':', 2), split_part(key, ':', 3) order by split_part(key, ':', 4)::int) as ended
      from loopstream.ledger_transactions where kind = 'charge') charges where begins < ended`,
  );

const CREDITS_PER_ETH = 30_000_000n;

export async function readDeposits({ databaseUrl }: Stage, { sent }: Chain): Promise<Deposits> {
  const rows = await query(
    databaseUrl,
    `select split_part(t.key, ':', 3) as txid, sum(e.credits)::text as credits from loopstream.ledger_transactions t
      join loopstream.ledger_entries e on e.transaction_id = t.id and e.account like 'customer:%'
      where t.key like 'deposit%' group by 1`,
  );
  const booked = new Map(rows.map(({ txid, credits }) => [String(txid), BigInt(String(credits))]));
  const worth = (wei: bigint) => (wei * CREDITS_PER_ETH) / 10n ** 18n;
  return {
    sent: sent.length,
    credited: sent.filter(({ txid, wei }) => booked.get(txid) === worth(wei)).length,
    twice: sent.filter(({ txid, wei }) => (booked.get(txid) ?? 0n) > worth(wei)).length,
  };
}

export async function reconcile({ databaseUrl, kubeconfig, settings }: Stage): Promise<{ ok: boolean; text: string }> {
  const env = { ...environment(), ...settings, LOOPSTREAM_DATABASE_URL: databaseUrl, KUBECONFIG: kubeconfig };
  const args = [MAIN, 'admin', 'reconcile'];
  const { ok, stdout, stderr } = await run(process.execPath, args, { env, timeoutMs: 120_000 });
  return { ok, text: (stdout + stderr).trim() };
}
