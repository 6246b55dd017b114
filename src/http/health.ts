/** Whether the parts that the API server leans on answer: asked at most once in a while, however many want to know. */
import { sleep } from '../clock.ts';
import type { Db } from '../db/pool.ts';
import type { Kube } from '../kube/types.ts';
import { ping } from './store.ts';

type Component = 'ok' | 'unavailable';
export type Health = () => Promise<{ kubernetes: Component; database: Component }>;

const FRESH_MS = 2_000;
const TIMEOUT_MS = 2_000;

/** `isSynced` tells whether the caches have been filled. */
export function createHealth(deps: { kube: Kube; db: Db; isSynced: () => boolean }): Health {
  const { kube, db, isSynced } = deps;
  const within = async (work: Promise<boolean>): Promise<Component> => {
    const late = sleep(TIMEOUT_MS).then(() => false);
    return (await Promise.race([work.catch(() => false), late])) ? 'ok' : 'unavailable';
  };
  let until = 0;
  let answer: ReturnType<Health>;
  return () => {
    if (performance.now() < until) return answer;
    until = performance.now() + FRESH_MS;
    answer = Promise.all([
      within(kube.raw('GET', '/readyz').then(({ status }) => status === 200 && isSynced())),
      within(ping(db).then(() => true)),
    ]).then(([kubernetes, database]) => ({ kubernetes, database }));
    return answer;
  };
}
