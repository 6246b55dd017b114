/** Finds the streams that send to a destination now. */
import type { Api, Stream } from '../../api/api.ts';
import { isRunning, PHASE_LOOKS } from '../streams/phase.ts';

const LARGEST_PAGE = 100;
const RUNNING = (Object.keys(PHASE_LOOKS) as Stream['status'][]).filter(isRunning);

/** Returns those of the first page that has any: one is enough for a question, and an account may have thousands. */
async function findInPhase({ calls }: Api, id: string, status: Stream['status']): Promise<Stream[]> {
  let cursor: string | undefined;
  do {
    const { data, page } = await calls.streams.list({ status, limit: LARGEST_PAGE }).page(cursor);
    const found = data.filter(({ destinationIDs }) => destinationIDs.includes(id));
    if (found.length > 0) return found;
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return [];
}

/** Returns some of the streams that are on air to the destination, or go on air now; none where there is none. */
export const findOnAir = async (api: Api, id: string): Promise<Stream[]> =>
  (await Promise.all(RUNNING.map((status) => findInPhase(api, id, status)))).flat();
