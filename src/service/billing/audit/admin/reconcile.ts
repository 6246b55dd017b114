/** Runs `loopstream admin reconcile`: lists the differences between the ledger and its sources, and the remedies. */

import { createKube } from '../../../../core/kube/client.ts';
import { LOOPSTREAMS, type LoopStream } from '../../../../core/resources/stream/resource.ts';
import type { Db } from '../../../db/pool.ts';
import { type FactSources, reconcile } from '../reconcile.ts';
import { findRemedy } from '../remedies.ts';
import { formatColumns } from './columns.ts';
import { AdminError } from './service.ts';

const NOT_ASKED =
  'The time on air that pods reported was not compared, because no cluster is configured. Set KUBECONFIG to compare it.\n';

/** For people and for programs; the code is 1 when something differs. Rejects with the error of the database or Kubernetes. */
export async function checkLedger(
  db: Db,
  sources: FactSources,
): Promise<{ text: string; json: unknown; code: number }> {
  const found = await reconcile(db, sources);
  const differences = found.flatMap(({ name, differences }) =>
    differences.map((one) => ({ of: name, ...one, advice: findRemedy(name, one.what) })),
  );
  const lines = found.map(({ name, checked, differences }) => [name, String(checked), String(differences.length)]);
  const table = formatColumns([['what', 'checked', 'differences'], ...lines]);
  const details = differences.map(
    (one) =>
      `${one.of}: ${one.what} of ${one.subject} is ${one.found ?? 'missing'}, expected ${one.expected ?? 'none'}\n  ${one.advice}\n`,
  );
  return {
    text: `${table}${sources.streams ? '' : NOT_ASKED}${details.join('')}`,
    json: { differences, checked: found.map(({ name, checked }) => ({ name, checked })) },
    code: differences.length === 0 ? 0 : 1,
  };
}

/** All streams of accounts. Rejects with AdminError when one of the namespaces cannot be read: a part of them proves nothing. */
export async function readStreams(
  kubeconfig: string | undefined,
  namespaces: readonly string[],
): Promise<LoopStream[]> {
  const kube = createKube({ kubeconfig, timeoutMs: 30_000, role: 'admin' });
  try {
    return (await Promise.all(namespaces.map((namespace) => kube.list(LOOPSTREAMS, { namespace })))).flat();
  } catch (error) {
    throw new AdminError(`The streams could not be read from Kubernetes: ${(error as Error).message}`);
  } finally {
    await kube.close();
  }
}
