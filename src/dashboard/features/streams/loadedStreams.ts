/** Changes single streams in the loaded pages of a list. Pure: no I/O, no clock. */
import { replaceEqualDeep } from '@tanstack/react-query';
import type { Page, Stream } from '../../api/api.ts';

/** The loaded pages of a list, as `useInfiniteQuery` keeps them; other queries of streams keep their pages so, too. */
export interface LoadedStreams {
  pages: Page<Stream>[];
}

const pageHas = ({ data }: Page<Stream>, id: string): boolean => data.some((stream) => stream.id === id);

export const hasStream = ({ pages }: LoadedStreams, id: string): boolean => pages.some((page) => pageHas(page, id));

/** Changes the pages that have the stream. The others stay the same objects: nothing compares or renders them again. */
const changePages = <List extends LoadedStreams>(list: List, id: string, change: (data: Stream[]) => Stream[]): List =>
  hasStream(list, id)
    ? { ...list, pages: list.pages.map((page) => (pageHas(page, id) ? { ...page, data: change(page.data) } : page)) }
    : list;

/** Puts a stream in its place, which a list has already. */
export const replaceStream = <List extends LoadedStreams>(list: List, stream: Stream): List =>
  changePages(list, stream.id, (data) => data.map((one) => (one.id === stream.id ? stream : one)));

/** Puts a stream at the beginning of a list, newest first, or in its place where the list has it. */
export function addStream<List extends LoadedStreams>(list: List, stream: Stream): List {
  if (hasStream(list, stream.id)) return replaceStream(list, stream);
  const [first, ...rest] = list.pages;
  return first ? { ...list, pages: [{ ...first, data: [stream, ...first.data] }, ...rest] } : list;
}

export const removeStream = <List extends LoadedStreams>(list: List, id: string): List =>
  changePages(list, id, (data) => data.filter((one) => one.id !== id));

/**
 * Returns `now` with the objects of `before` in the place of equal ones: while somebody types a name, most answers have the same streams,
 * whose cards are then not rendered again.
 */
export function keepEqualStreams(before: readonly Stream[], now: readonly Stream[]): readonly Stream[] {
  const known = new Map(before.map((stream) => [stream.id, stream]));
  return now.map((stream) => replaceEqualDeep(known.get(stream.id), stream));
}
