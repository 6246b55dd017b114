/** Spaces work that is asked for more often than it may be done. */
import type { Query } from '@tanstack/react-query';
import { sleep } from '../../core/lib/clock.ts';

/** Between two looks at the same thing: a stream that changes ten times a second is read twice. */
const SPACING_MS = 500;

interface Task {
  work: () => Promise<unknown>;
  spacingMs: number;
}

/** Does the named work now, at most once in `spacingMs`, and once more if it was asked for meanwhile. */
export type Spacer = (name: string, work: () => Promise<unknown>, spacingMs?: number) => void;

export function createSpacer(signal: AbortSignal): Spacer {
  const atWork = new Set<string>();
  const again = new Map<string, Task>();

  async function run(name: string, first: Task): Promise<void> {
    atWork.add(name);
    try {
      for (let next: Task | undefined = first; next; next = again.get(name)) {
        again.delete(name);
        await Promise.all([next.work(), sleep(next.spacingMs, signal)]);
      }
    } catch {
      // The page is left; errors of reading are shown where the reading is.
    } finally {
      atWork.delete(name);
      again.delete(name);
    }
  }
  return (name, work, spacingMs = SPACING_MS) => {
    if (atWork.has(name)) again.set(name, { work, spacingMs });
    else void run(name, { work, spacingMs });
  };
}

/** Each loaded page of a list is a request. Two in three seconds leave most of an account's requests to its other clients. */
const PAGE_SPACING_MS = 1_500;

function countPages(query: Query): number {
  const { page, pages } = (query.state.data ?? {}) as { page?: unknown; pages?: readonly unknown[] };
  if (!query.isActive()) return 0;
  return pages?.length ?? (page ? 1 : 0);
}

/** The pause between two reads of these queries; undefined where none of them is a list that somebody looks at. */
export function findSpacing(queries: readonly Query[]): number | undefined {
  const pages = queries.reduce((sum, query) => sum + countPages(query), 0);
  return pages > 0 ? pages * PAGE_SPACING_MS : undefined;
}
