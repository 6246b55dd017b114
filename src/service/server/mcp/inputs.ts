/** Defines arguments and results that several tools share. Pure: no I/O, no clock. */
import { type Static, type TObject, Type } from 'typebox';
import { DEFAULT_PAGE, MAX_PAGE } from '../../lib/list-page.ts';
import { pageArgs } from '../../lib/paging/list.ts';

export const idArgument = (description: string) => ({ id: Type.String({ description }) });

/** Optional, as in REST. Agents read it for each list, so the size of a page has no words. */
export const PAGE = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_PAGE, default: DEFAULT_PAGE })),
  cursor: Type.Optional(Type.String({ maxLength: 1024, description: 'The last page.nextCursor.' })),
};

export const readPage = ({ limit = DEFAULT_PAGE, cursor }: { limit?: number; cursor?: string }) =>
  pageArgs({ limit, ...(cursor !== undefined && { cursor }) });

/** Describes a page in a sentence. */
export function describePage({ data, page }: { data: readonly unknown[]; page: { hasMore: boolean } }): string {
  const more = page.hasMore ? ' There are more: call again with `cursor` set to page.nextCursor.' : '';
  return `${data.length} on this page.${more}`;
}

const MAX_WAIT_SECONDS = 60;

export const waitFor = (what: string) => ({
  wait: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: MAX_WAIT_SECONDS,
      description: `Seconds to wait until ${what}. After that, the response shows the current state.`,
    }),
  ),
});

export const Deleted = Type.Object({
  id: Type.String({ description: 'Id of the deleted object.' }),
  done: Type.Boolean({ description: 'False while the stream is still going off air.' }),
});

export const describeDeleted = ({ id, done }: Static<typeof Deleted>): string =>
  done ? `${id} is deleted.` : `${id} is being deleted and goes off air in a moment.`;

/** Result of a request, and whether it has taken effect. */
export const progressSchema = <T extends TObject>(stream: T) =>
  Type.Object({
    stream,
    done: Type.Boolean({ description: 'False while the change is still in progress.' }),
  });
