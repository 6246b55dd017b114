/**
 * Follows the account's changes and reads anew what is shown of what has changed. While the feed is away the queries ask by
 * the clock (`unlessFollowed`), so that a page is never older than that, whatever stands between it and the server.
 */

import { type QueryClient, type QueryKey, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { type Backoff, backoffMs } from '../../core/lib/backoff.ts';
import { sleep } from '../../core/lib/clock.ts';
import { type FeedNews, ProblemError } from '../../service/client/index.ts';
import type { Api } from '../api/api.ts';
import { useApi, useWho } from '../api/context.tsx';
import { setFollows } from '../api/feed.ts';
import { createStreamFollower, listStreamsWithoutPicture } from './followStreams.ts';
import { createSpacer, findSpacing } from './spacer.ts';
import { staleAfter } from './staleQueries.ts';

const PAUSE: Backoff = { baseMs: 300, maxMs: 5_000 };
/** A feed that lasted this long was a good one: the next pause begins with the shortest again. */
const GOOD_MS = 10_000;
/** A tab that nobody looks at for this long gives its connection back. */
const HIDDEN_MS = 60_000;
/** Each event is written a moment after its change. */
const LATE_MS = 1_500;

/** Resolves when somebody looks at the page. */
const seen = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (!document.hidden) return resolve();
    const look = () => {
      if (document.hidden) return;
      document.removeEventListener('visibilitychange', look);
      resolve();
    };
    document.addEventListener('visibilitychange', look, { signal });
  });

/** Aborts with `signal`, and when nobody has looked at the page for a while. */
function whileSeen(signal: AbortSignal): AbortController {
  const stop = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const look = () => {
    clearTimeout(timer);
    if (document.hidden) timer = setTimeout(() => stop.abort(), HIDDEN_MS);
  };
  const end = () => stop.abort();
  document.addEventListener('visibilitychange', look, { signal: stop.signal });
  signal.addEventListener('abort', end, { signal: stop.signal });
  stop.signal.addEventListener('abort', () => clearTimeout(timer));
  return stop;
}

/** One connection; resolves when it is over, for any reason, with whether it makes sense to connect again. */
async function follow(api: Api, hear: (news: FeedNews) => void, signal: AbortSignal): Promise<boolean> {
  const connection = whileSeen(signal);
  try {
    for await (const news of api.changes(connection.signal)) {
      setFollows(true);
      hear(news);
    }
  } catch (error) {
    if (error instanceof ProblemError && (error.status === 401 || error.code === 'insufficient_scope')) return false;
  } finally {
    connection.abort();
    setFollows(false);
  }
  return !signal.aborted;
}

async function followForEver(api: Api, queries: QueryClient, signal: AbortSignal): Promise<void> {
  const space = createSpacer(signal);
  const refresh = (queryKey: QueryKey): void => {
    const found = queries.getQueryCache().findAll({ queryKey });
    if (found.length === 0) return;
    space(JSON.stringify(queryKey), () => queries.invalidateQueries({ queryKey }), findSpacing(found));
  };
  const showStream = createStreamFollower({ queries, api, space, signal });
  const hear = (news: FeedNews) => {
    if (news !== 'reset' && news.noun === 'stream') showStream(news);
    if (news !== 'reset' && news.noun === 'upload')
      for (const id of listStreamsWithoutPicture(queries, news.id)) showStream({ id, change: 'updated' });
    const stale = staleAfter(news);
    if (!stale) return refresh([]);
    for (const key of stale) refresh(key);
    const events = stale.find(([noun]) => noun === 'events');
    if (events)
      void sleep(LATE_MS, signal).then(
        () => refresh(events),
        () => undefined,
      );
  };
  for (let failures = 0; ; ) {
    await seen(signal);
    const since = Date.now();
    if (!(await follow(api, hear, signal))) return;
    // The queries on screen begin to ask by the clock.
    refresh([]);
    failures = Date.now() - since > GOOD_MS ? 0 : failures + 1;
    await sleep(backoffMs(PAUSE, failures), signal);
  }
}

/** For the frame around all pages: once for each signed-in user. */
export function useChanges(): void {
  const api = useApi();
  const queries = useQueryClient();
  const { isOver } = useWho();
  useEffect(() => {
    if (isOver) return;
    const stop = new AbortController();
    followForEver(api, queries, stop.signal).catch(() => undefined);
    return () => stop.abort();
  }, [api, queries, isOver]);
}
