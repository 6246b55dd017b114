/** Imports many links in one request, with a result for each. */
import { currentIntent, type Intent, within } from '../../../core/lib/context.ts';
import { AppError, ERRORS } from '../../lib/errors.ts';
import type { Upload, UploadFromLink, UploadFromLinkResults } from './record.ts';

type Result = UploadFromLinkResults['data'][number];

/**
 * Gives each link an id of its own before the first is imported: where a link is refused in one try of a request and not in the next one,
 * the others keep theirs.
 */
function splitIntent(intent: Intent, count: number): Intent[] {
  const ids = Array.from({ length: count }, () => intent.newId('upl'));
  return ids.map((id) => ({ since: intent.since, newId: () => id, nextId: () => id }));
}

/** Describes the refusal of one link. Other errors are no answer to it, and end the request. */
function describeRefusal(error: unknown): NonNullable<Result['error']> {
  if (!(error instanceof AppError) || error.status >= 500) throw error;
  return { code: error.code, message: error.message, fix: ERRORS[error.code].fix };
}

/** One after the other, as an account that sends them by itself would: others wait no longer. */
export async function importEach(
  links: readonly UploadFromLink[],
  importOne: (link: UploadFromLink) => Promise<Upload>,
): Promise<UploadFromLinkResults> {
  const intent = currentIntent();
  const intents = intent ? splitIntent(intent, links.length) : [];
  const data: Result[] = [];
  for (const [index, link] of links.entries()) {
    const own = intents[index];
    const result = await within(own ? { intent: own } : {}, () => importOne(link)).then(
      (upload) => ({ upload, error: null }),
      (error: unknown) => ({ upload: null, error: describeRefusal(error) }),
    );
    data.push({ url: link.url, ...result });
  }
  return { data };
}
