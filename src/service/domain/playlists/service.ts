/** Creates, edits and publishes playlists: ordered lists of uploads that streams loop, with one published version. */

import { currentIntent } from '../../../core/lib/context.ts';
import { isSameJson } from '../../../core/lib/json-equal.ts';
import { type Labels as LabelMap, readLabels } from '../../../core/resources/common/labels.ts';
import { INTENT_ANNOTATION, VERSIONS_FINALIZER } from '../../../core/resources/common/names.ts';
import type { History, KeptVersion } from '../../../core/resources/playlist/history.ts';
import type { Playlist as Resource } from '../../../core/resources/playlist/resource.ts';
import {
  annotatePublished,
  listPlayedParts,
  type PlaylistSpec,
  readPublished,
} from '../../../core/resources/playlist/spec.ts';
import { annotateNextVersion, annotateSameVersion, readVersion } from '../../../core/resources/playlist/version.ts';
import { annotateFirst, annotateNext } from '../../../core/resources/playlist/version-bytes.ts';
import { formatProfile } from '../../../core/resources/stream/profile.ts';
import type { LoopStream } from '../../../core/resources/stream/resource.ts';
import type { Upload } from '../../../core/resources/upload/resource.ts';
import { AppError, type FieldError, validationFailed } from '../../lib/errors.ts';
import { patchLabels } from '../../lib/labels.ts';
import type { Connection, FilteredArgs, ListArgs } from '../../lib/list-page.ts';
import { connectAll, type Listing, numberKey } from '../../lib/paging/ordered.ts';
import type { OwnedResources } from '../limits/owned-resources.ts';
import type { Quotas } from '../limits/quotas.ts';
import { callReached, listReachedIds } from '../limits/reached.ts';
import type { Posters } from '../uploads/posters.ts';
import { describeWrongType } from '../uploads/types.ts';
import { createAttacher } from './attach.ts';
import { applyChanges, changesBetween, type Item, OutOfList } from './changes.ts';
import { computePublication } from './publication.ts';
import type {
  Playlist,
  PlaylistChanges,
  PlaylistCreate,
  PlaylistDiff,
  PlaylistSummary,
  PlaylistUpdate,
  PlaylistVersion,
  PlaylistVersionSummary,
} from './record.ts';
import { checkRules, toRules, toSpecRules } from './rules.ts';

export type PlaylistService = ReturnType<typeof createPlaylistService>;

export interface PlaylistServiceDeps {
  playlists: OwnedResources<Resource>;
  uploads: OwnedResources<Upload>;
  posters: Pick<Posters, 'ofPlaylist'>;
  /** Needs the index `playlist`. */
  streams: OwnedResources<LoopStream>;
  history: History;
  quotas: Pick<Quotas, 'make' | 'grow'>;
}

const toNotWithin = ({ notWithin }: Pick<PlaylistSpec, 'notWithin'>) => notWithin ?? { sameArtist: 0 };

/** Time for the watch to deliver a version that another replica created. */
const SEEN_MS = 1_000;
/** Retries after concurrent changes outside of the spec, such as a label, before the request fails with a conflict. */
const TRIES = 5;

export type VersionOrder = 'version' | 'createdAt';
const VERSION_LISTING: Pick<Listing<PlaylistVersionSummary, VersionOrder>, 'keys' | 'standard'> = {
  keys: {
    version: ({ version }) => numberKey(version),
    // The version number orders two versions of the same second.
    createdAt: ({ createdAt, version }) => `${createdAt ?? ''} ${numberKey(version)}`,
  },
  standard: { by: 'version', descending: true },
};

type Edit = (spec: PlaylistSpec) => Partial<PlaylistSpec>;

const toItems = (items: PlaylistSpec['items']): Item[] =>
  items.map(({ uploadName }) => ({ uploadObjectID: uploadName }));
const toNames = (items: readonly Item[]): PlaylistSpec['items'] =>
  items.map(({ uploadObjectID }) => ({ uploadName: uploadObjectID }));

export function createPlaylistService({ playlists, uploads, posters, streams, history, quotas }: PlaylistServiceDeps) {
  const remove = async (playlist: Resource): Promise<void> => {
    await playlists.delete(playlist);
    await history.clear(playlist);
    await playlists.release(playlist, VERSIONS_FINALIZER);
  };
  const attaching = createAttacher(streams, playlists, remove);
  const findStreams = (accountId: string, { metadata }: Resource) =>
    streams.referring(accountId, 'playlist', metadata.name);
  const listIds = (found: (LoopStream | Resource)[]) => found.map(({ metadata }) => metadata.name).sort();

  const summarize =
    (accountId: string) =>
    (playlist: Resource): PlaylistSummary => ({
      id: playlist.metadata.name,
      createdAt: playlist.metadata.creationTimestamp,
      name: playlist.spec.displayName ?? playlist.metadata.name,
      labels: readLabels(playlist),
      kind: playlist.spec.track,
      mode: playlist.spec.mode,
      streamID: listIds(findStreams(accountId, playlist))[0] ?? '',
      version: readVersion(playlist),
      publishedVersion: readPublished(playlist)?.version ?? null,
      posterUrl: posters.ofPlaylist(accountId, playlist),
    });

  const show = (accountId: string, playlist: Resource): Playlist => {
    const profiles = findStreams(accountId, playlist).map(({ spec }) => formatProfile(spec.quality, spec.framerate));
    const played = listPlayedParts(playlist, (name) => playlists.find(accountId, name))
      .flatMap(({ uploadNames }) => uploadNames)
      .map((name) => uploads.find(accountId, name));
    return {
      ...summarize(accountId)(playlist),
      notWithin: toNotWithin(playlist.spec),
      items: toItems(playlist.spec.items),
      rules: toRules(playlist.spec.rules),
      publication: computePublication(readPublished(playlist)?.version ?? null, played, [...new Set(profiles)]),
    };
  };

  /** Lists validation errors of the items at `path`. */
  const check = (accountId: string, track: PlaylistSpec['track'], items: readonly Item[], path: string): FieldError[] =>
    items.flatMap(({ uploadObjectID }, i) =>
      checkUpload(accountId, track, uploadObjectID, `${path}/${i}/uploadObjectID`),
    );
  const checkUpload = (accountId: string, track: PlaylistSpec['track'], id: string, path: string): FieldError[] => {
    const upload = uploads.seek(accountId, id);
    if (!upload) return [{ path, message: 'names an upload that does not exist' }];
    // An audio playlist can play the sound of a video; an audio file has no picture.
    const isWrong = upload.spec.track === 'image' || (track === 'video' && upload.spec.track === 'audio');
    return isWrong ? [{ path, message: describeWrongType(upload.spec.track) }] : [];
  };
  /** Whether the rules of a playlist play another one, directly or through the rules of others. */
  const leadsTo = (accountId: string, from: string, to: string, seen = new Set<string>()): boolean => {
    if (from === to) return true;
    if (seen.has(from)) return false;
    seen.add(from);
    const { rules = [] } = playlists.find(accountId, from)?.spec ?? {};
    return rules.some(({ playlistName }) => playlistName !== undefined && leadsTo(accountId, playlistName, to, seen));
  };
  /** Lists validation errors of rules; `id` is that of the playlist they belong to. */
  const findRuleErrors = (
    accountId: string,
    track: PlaylistSpec['track'],
    rules: PlaylistUpdate['rules'],
    id?: string,
  ): FieldError[] =>
    checkRules(rules, {
      findPlaylistProblem: (named) => {
        const found = playlists.seek(accountId, named);
        if (!found) return 'names a playlist that does not exist';
        if (found.spec.track !== track) return `names a playlist of kind ${found.spec.track}, not ${track}`;
        return id !== undefined && leadsTo(accountId, named, id)
          ? 'names a playlist whose rules lead back here'
          : undefined;
      },
      checkUpload: (upload, path) => checkUpload(accountId, track, upload, path),
      now: new Date(),
    });
  const refuse = (errors: FieldError[]): void => {
    if (errors.length > 0) throw validationFailed(errors);
  };

  /** The commit stands even if this fails: the next writer stores the version first. */
  const keepLater = (playlist: Resource): Promise<void> => history.keep(playlist).catch(() => undefined);

  const versionConflict = (playlist: Resource, version: number): AppError => {
    const current = readVersion(playlist);
    const detail = `The playlist is at version ${current}, not ${version}. Read it, and send the changes for that version.`;
    return new AppError('playlist_version_conflict', detail, { extras: { currentVersion: current } });
  };

  /** Returns the playlist at `version` or newer, since the client has seen that version. */
  const upTo = async (accountId: string, id: string, version: number): Promise<Resource> => {
    const playlist = playlists.get(accountId, id);
    if (readVersion(playlist) >= version) return playlist;
    await playlists.until(accountId, id, (now) => now === undefined || readVersion(now) >= version, SEEN_MS);
    return playlists.get(accountId, id);
  };

  /**
   * Creates the next version from `version`, if that is still current. The patch contains the resourceVersion, so Kubernetes
   * accepts only one of several concurrent writers. A retried request returns the version that its first try created, even after
   * later writes. With `anyVersion` the request names no version, so the check for a retry comes first.
   */
  const commit = async (
    accountId: string,
    id: string,
    version: number,
    edit: Edit,
    { anyVersion = false, labels }: { anyVersion?: boolean; labels?: LabelMap | undefined } = {},
  ): Promise<Playlist> => {
    let playlist = await upTo(accountId, id, version);
    const intent = currentIntent()?.newId('version') ?? null;
    const isRepeated = (current: Resource) => intent !== null && history.hasMade(current, intent);
    if (anyVersion && (await isRepeated(playlist))) return show(accountId, playlist);
    for (let tries = 1; ; tries += 1) {
      if (readVersion(playlist) !== version) {
        if (await isRepeated(playlist)) return show(accountId, playlist);
        throw versionConflict(playlist, version);
      }
      const { resourceVersion } = playlist.metadata;
      const spec = edit(playlist.spec);
      const next = annotateNext(playlist, { ...playlist.spec, ...spec });
      // The server that created this version may have died before it stored it.
      await history.keep(playlist);
      try {
        const annotations = { [INTENT_ANNOTATION]: intent, ...next.annotations, ...annotateNextVersion(playlist) };
        const patch = { metadata: { resourceVersion, annotations, ...patchLabels(playlist, labels) }, spec };
        const current = playlist;
        const made = await quotas.grow(accountId, next.more, () => playlists.patch(current, patch));
        await keepLater(made);
        return show(accountId, made);
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== 'conflict' || tries === TRIES) throw error;
        await playlists.until(accountId, id, (now) => now?.metadata.resourceVersion !== resourceVersion, SEEN_MS);
        playlist = playlists.get(accountId, id);
      }
    }
  };

  const relabel = async (accountId: string, id: string, version: number, labels: LabelMap): Promise<Playlist> => {
    const playlist = await upTo(accountId, id, version);
    if (readVersion(playlist) !== version) throw versionConflict(playlist, version);
    return show(accountId, await playlists.patch(playlist, { metadata: patchLabels(playlist, labels) }));
  };

  const keptVersion = async (playlist: Resource, version: number): Promise<KeptVersion> => {
    const found = await history.get(playlist, version);
    if (found) return found;
    const detail = `The playlist has no version ${version}, or no longer keeps it.`;
    throw new AppError('playlist_version_not_found', detail);
  };

  const refuseGone = (accountId: string, version: number, { track, items }: Pick<PlaylistSpec, 'track' | 'items'>) => {
    const gone = check(accountId, track, toItems(items), '').length;
    if (gone === 0) return;
    throw new AppError('playlist_not_playable', `Version ${version} has ${gone} items whose uploads no longer exist.`);
  };

  const showVersion = (playlist: Resource, { version, spec, createdAt }: KeptVersion): PlaylistVersionSummary => ({
    version,
    createdAt,
    mode: spec.mode,
    itemCount: spec.items.length,
    published: readPublished(playlist)?.version === version,
  });

  return {
    /** Publishes the first version at once, so that a stream can play it. */
    async create(accountId: string, given: PlaylistCreate): Promise<Playlist> {
      const { name, labels, kind, mode, notWithin, items, rules, streamID } = given;
      const wrong = [...check(accountId, kind, items, '/items'), ...findRuleErrors(accountId, kind, rules)];
      refuse([...wrong, ...attaching.problems(accountId, streamID, kind)]);
      const spec = {
        ...{ track: kind, mode, items: toNames(items) },
        ...(notWithin && { notWithin }),
        ...(rules && rules.length > 0 && { rules: toSpecRules(rules) }),
        ...(name === undefined ? {} : { displayName: name }),
      };
      const annotations = { ...annotatePublished(1, spec), ...annotateFirst(spec) };
      const made = await quotas.make(accountId, 'playlists', spec, () =>
        playlists.create(accountId, () => spec, { labels, annotations, finalizers: [VERSIONS_FINALIZER] }),
      );
      await keepLater(made);
      await attaching.attach(accountId, streamID, made);
      return show(accountId, made);
    },

    /** `where` filters by the shape that clients see. */
    list(accountId: string, args: FilteredArgs, where?: (it: PlaylistSummary) => boolean): Connection<PlaylistSummary> {
      const shown = summarize(accountId);
      return playlists.page(accountId, args, shown, where && ((playlist) => where(shown(playlist))));
    },

    get: (accountId: string, id: string): Playlist => show(accountId, playlists.get(accountId, id)),

    /** Labels alone are no new version. */
    update(accountId: string, id: string, { version, labels, ...given }: PlaylistUpdate): Promise<Playlist> {
      if (labels && Object.keys(given).length === 0) return relabel(accountId, id, version, labels);
      const { name, mode, notWithin, items, rules } = given;
      const edit: Edit = ({ track }) => {
        refuse([...check(accountId, track, items ?? [], '/items'), ...findRuleErrors(accountId, track, rules, id)]);
        return {
          ...(name === undefined ? {} : { displayName: name }),
          ...(mode === undefined ? {} : { mode }),
          ...(notWithin === undefined ? {} : { notWithin }),
          ...(items === undefined ? {} : { items: toNames(items) }),
          ...(rules === undefined ? {} : { rules: toSpecRules(rules) }),
        };
      };
      return commit(accountId, id, version, edit, { labels });
    },

    change(accountId: string, id: string, { version, changes }: PlaylistChanges): Promise<Playlist> {
      return commit(accountId, id, version, ({ track, items }) => {
        const put = (change: (typeof changes)[number]) => ('items' in change ? change.items : []);
        refuse(changes.flatMap((change, i) => check(accountId, track, put(change), `/changes/${i}/items`)));
        try {
          return { items: toNames(applyChanges(toItems(items), changes)) };
        } catch (error) {
          if (!(error instanceof OutOfList)) throw error;
          throw validationFailed([{ path: `/changes/${error.at}${error.path}`, message: error.message }]);
        }
      });
    },

    /** Streams on air switch as soon as some of it is prepared (all of it with onItemFailure Block). */
    async publish(accountId: string, id: string, version: number): Promise<Playlist> {
      const playlist = await upTo(accountId, id, version);
      const { spec } = await keptVersion(playlist, version);
      if (spec.items.length === 0)
        throw new AppError('playlist_not_playable', `Version ${version} has no items to play.`);
      refuseGone(accountId, version, spec);
      const annotations = { ...annotatePublished(version, spec), ...annotateSameVersion(playlist) };
      return show(accountId, await playlists.patch(playlist, { metadata: { annotations } }));
    },

    /** Creates a new version with the content of an old one. Streams keep the published version. */
    async rollback(accountId: string, id: string, version: number): Promise<Playlist> {
      const playlist = await upTo(accountId, id, version);
      const old = (await keptVersion(playlist, version)).spec;
      const { mode, items, rules } = old;
      refuseGone(accountId, version, { track: playlist.spec.track, items });
      return commit(
        accountId,
        id,
        readVersion(playlist),
        ({ rules: now, notWithin }) => ({
          ...{ mode, items },
          ...((old.notWithin || notWithin) && { notWithin: toNotWithin(old) }),
          ...((rules || now) && { rules: rules ?? [] }),
        }),
        { anyVersion: true },
      );
    },

    /** Lists kept versions and the current one, newest first unless `args` says otherwise. */
    async versions(
      accountId: string,
      id: string,
      args: ListArgs<VersionOrder>,
      where?: (version: PlaylistVersionSummary) => boolean,
    ): Promise<Connection<PlaylistVersionSummary>> {
      const playlist = playlists.get(accountId, id);
      const all = (await history.list(playlist)).map((stored) => showVersion(playlist, stored));
      return connectAll({ ...VERSION_LISTING, list: `plv.${id}`, getId: () => id }, all, args, where);
    },

    async version(accountId: string, id: string, version: number): Promise<PlaylistVersion> {
      const playlist = await upTo(accountId, id, version);
      const stored = await keptVersion(playlist, version);
      const { spec } = stored;
      return {
        ...showVersion(playlist, stored),
        notWithin: toNotWithin(spec),
        items: toItems(spec.items),
        rules: toRules(spec.rules),
      };
    },

    async diff(accountId: string, id: string, from: number, to: number): Promise<PlaylistDiff> {
      const playlist = await upTo(accountId, id, Math.max(from, to));
      const [before, after] = await Promise.all([keptVersion(playlist, from), keptVersion(playlist, to)]);
      const changes = changesBetween(toItems(before.spec.items), toItems(after.spec.items));
      const rules = toRules(after.spec.rules);
      return {
        from,
        to,
        mode: before.spec.mode === after.spec.mode ? null : after.spec.mode,
        notWithin: isSameJson(toNotWithin(before.spec), toNotWithin(after.spec)) ? null : toNotWithin(after.spec),
        rules: isSameJson(toRules(before.spec.rules), rules) ? null : rules,
        changes,
      };
    },

    async delete(accountId: string, id: string): Promise<void> {
      const playlist = playlists.get(accountId, id);
      const playing = findStreams(accountId, playlist);
      const naming = playlists.referring(accountId, 'playlist', id).filter(({ metadata }) => metadata.name !== id);
      const holders = [...playing, ...naming];
      if (holders.length > 0) {
        const detail = `Streams or rules of other playlists play this playlist: ${callReached(holders)}.`;
        const extras = { streamIDs: listReachedIds(playing), playlistIDs: listReachedIds(naming) };
        throw new AppError('playlist_in_use', detail, { extras });
      }
      await remove(playlist);
    },
  };
}
