/** Spaces work that is asked for more often than it may be done. */
import type { Query } from '@tanstack/react-query';
import { sleep } from '../../lib/clock.ts';

/** Between two looks at the same thing: a stream that changes ten times a second is read twice. */
const SPACING_MS = 500;

/** Does the named work now, at most once in `spacingMs`, and once more if it was asked for meanwhile. */
export type Spacer = (name: string, work: () => Promise<unknown>, spacingMs?: number) => void;

export function createSpacer(signal: AbortSignal): Spacer {
  const atWork = new Set<string>();
  const again = new Map<string, () => Promise<unknown>>();

  async function run(name: string, work: () => Promise<unknown>, spacingMs: number): Promise<void> {
    atWork.add(name);
    try {
      for (let next: (() => Promise<unknown>) | undefined = work; next; next = again.get(name)) {
        again.delete(name);
        await Promise.all([next(), sleep(spacingMs, signal)]);
      }
    } catch {
      // The page is left; errors of reading are shown where the reading is.
    } finally {
      atWork.delete(name);
      again.delete(name);
    }
  }
  return (name, work, spacingMs = SPACING_MS) => {
    if (atWork.has(name)) again.set(name, work);
    else void run(name, work, spacingMs);
  };
}

/** Of a list with several loaded pages, each is a request: a list of n pages is read anew at most once in n of these. */
const PAGE_SPACING_MS = 1_000;

/** The pause between two reads of a query. */
export function findSpacing({ state }: Pick<Query, 'state'>): number | undefined {
  const { pages } = (state.data ?? {}) as { pages?: readonly unknown[] };
  return pages && pages.length > 1 ? pages.length * PAGE_SPACING_MS : undefined;
}
