/**
 * Records what streams play, for longer than their status keeps it: the moves of their lists, the lists themselves, and the words and lengths
 * of the items. An item that follows as expected is not recorded. One server at a time runs it (domain/events/collector.ts).
 */
import type { Pod } from '../../../core/kube/core.ts';
import type { Reflector } from '../../../core/kube/reflector.ts';
import type { KubeObject, Stored } from '../../../core/kube/types.ts';
import { setNewest } from '../../../core/lib/newest.ts';
import { identifyLists } from '../../../core/programme/identity.ts';
import { readPodProgram } from '../../../core/protocol/to-streamer.ts';
import { PROGRAM_ANNOTATION, STREAM_LABEL } from '../../../core/resources/common/names.ts';
import type { LoopStream } from '../../../core/resources/stream/resource.ts';
import { listTrackItems } from '../../../core/resources/stream/track-items.ts';
import type { Upload } from '../../../core/resources/upload/resource.ts';
import type { Db } from '../../db/pool.ts';
import { describeUpload, hashItem } from './recorded-item.ts';
import * as store from './store.ts';

type WatchedPod = Stored<KubeObject<Pod['spec'], Pod['status']>>;

export interface RecorderDeps {
  db: Db;
  uploads: Pick<Reflector<KubeObject<Upload['spec'], Upload['status']>>, 'get'>;
  pods: Pick<Reflector<KubeObject<Pod['spec'], Pod['status']>>, 'onChange'>;
  now: () => Date;
}

/** Lists of a stream that are kept in memory: a list may be followed by the next one before its first move is read. */
const MAX_LISTS = 6;
const MAX_STREAMS = 50_000;

interface RecentLists {
  annotation: string;
  lists: Map<string, store.RecordedList>;
}

export type Recorder = Awaited<ReturnType<typeof startRecorder>>;

export async function startRecorder({ db, uploads, pods, now }: RecorderDeps) {
  const last = await store.readLastFacts(db);
  const hashes = new Map((await store.readItemHashes(db)).map((one) => [`${one.accountId}/${one.uploadId}`, one.hash]));
  const recent = new Map<string, RecentLists>();

  function notePod({ metadata }: WatchedPod): void {
    const stream = `${metadata.namespace}/${metadata.labels?.[STREAM_LABEL]}`;
    const annotation = metadata.annotations?.[PROGRAM_ANNOTATION] ?? '';
    const known = recent.get(stream);
    if (known?.annotation === annotation) return;
    const lists = known?.lists ?? new Map<string, store.RecordedList>();
    for (const [programme, list] of identifyLists(readPodProgram({ metadata }))) {
      const ids = [...new Set(listTrackItems(list.track).map(({ id }) => id))];
      setNewest(lists, programme, { programme, ...list, uploads: ids }, MAX_LISTS);
    }
    setNewest(recent, stream, { annotation, lists }, MAX_STREAMS);
  }

  /** Returns the uploads that are not recorded as they are. */
  const listChanged = (accountId: string, some: readonly Upload[]) =>
    some.flatMap((upload) => {
      const item = describeUpload(upload);
      const version = { accountId, uploadId: upload.metadata.name, item, hash: hashItem(item), at: now() };
      return hashes.get(`${accountId}/${version.uploadId}`) === version.hash ? [] : [version];
    });

  const rememberItems = (items: readonly store.NewItem[]): void => {
    for (const { accountId, uploadId, hash } of items) hashes.set(`${accountId}/${uploadId}`, hash);
  };

  const unfollow = pods.onChange((_key, pod) => pod && notePod(pod), { replay: true });

  return {
    stop: unfollow,

    /** Records the facts that are new, with the lists that they name. */
    async followStream(accountId: string, stream: Stored<LoopStream>): Promise<void> {
      const { uid: streamUid, namespace = '', name } = stream.metadata;
      const facts = (stream.status?.facts ?? []).filter(({ number }) => number > (last.get(streamUid) ?? 0));
      if (facts.length === 0) return;
      const known = recent.get(`${namespace}/${name}`)?.lists;
      const named = [...new Set(facts.map(({ programme }) => programme))];
      const lists = named.flatMap((programme) => known?.get(programme) ?? []);
      const ids = [...new Set(lists.flatMap((list) => list.uploads))];
      const items = listChanged(
        accountId,
        ids.flatMap((id) => (uploads.get(namespace, id) as Upload | undefined) ?? []),
      );
      await db.transaction().execute(async (trx) => {
        for (const item of items) await store.recordItem(trx, item);
        await store.recordLists(trx, { accountId, streamUid }, lists);
        await store.recordFacts(trx, { accountId, streamUid }, facts);
      });
      rememberItems(items);
      last.set(streamUid, facts.at(-1)?.number ?? 0);
    },

    /** Records the words and lengths of an upload that a recorded list has, where they have changed. */
    async followUpload(accountId: string, upload: Upload): Promise<void> {
      if (!hashes.has(`${accountId}/${upload.metadata.name}`)) return;
      const items = listChanged(accountId, [upload]);
      for (const item of items) await store.recordItem(db, item);
      rememberItems(items);
    },
  };
}
