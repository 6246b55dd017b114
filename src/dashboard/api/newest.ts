/** Reads the newest objects of a list, for a form to choose from. */
import type { List } from '../../service/client/index.ts';

/** More than this nobody looks through in a form; they are the newest. */
const MOST = 500;
export const LARGEST_PAGE = 100;

export async function readNewest<T>(list: List<T>): Promise<T[]> {
  const found: T[] = [];
  let cursor: string | null = null;
  do {
    const { data, page }: Awaited<ReturnType<List<T>['page']>> = await list.page(cursor);
    found.push(...data);
    cursor = page.nextCursor;
  } while (cursor !== null && found.length < MOST);
  return found;
}
