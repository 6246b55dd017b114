/** Changes single streams in the loaded pages of a list. Pure: no I/O, no clock. */
import type { InfiniteData } from '@tanstack/react-query';
import type { Page, Stream } from '../../api/api.ts';

export type LoadedStreams = InfiniteData<Page<Stream>, string | undefined>;

export const hasStream = ({ pages }: LoadedStreams, id: string): boolean =>
  pages.some(({ data }) => data.some((stream) => stream.id === id));

const changePages = (list: LoadedStreams, change: (data: Stream[]) => Stream[]): LoadedStreams => ({
  ...list,
  pages: list.pages.map((page) => ({ ...page, data: change(page.data) })),
});

/** Puts a stream in its place, which a list has already. */
export const replaceStream = (list: LoadedStreams, stream: Stream): LoadedStreams =>
  changePages(list, (data) => data.map((one) => (one.id === stream.id ? stream : one)));

/** Puts a new stream at the beginning of a list of all streams, newest first, unless the list has it. */
export function addStream(list: LoadedStreams, stream: Stream): LoadedStreams {
  if (hasStream(list, stream.id)) return replaceStream(list, stream);
  const [first, ...rest] = list.pages;
  return first ? { ...list, pages: [{ ...first, data: [stream, ...first.data] }, ...rest] } : list;
}

export const removeStream = (list: LoadedStreams, id: string): LoadedStreams =>
  changePages(list, (data) => (data.some((one) => one.id === id) ? data.filter((one) => one.id !== id) : data));
