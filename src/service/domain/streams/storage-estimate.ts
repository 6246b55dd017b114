/**
 * Estimates what an edit of a stream takes of the storage: renditions, looks, cards and sounds that it newly asks for and that nobody has made
 * yet. Everything is read from memory. Pure but for what it is given.
 */
import { isSameJson } from '../../../core/lib/json-equal.ts';
import { MAX_CARD_BYTES } from '../../../core/pods/rendition/format.ts';
import { ACCOUNT_LABEL } from '../../../core/resources/common/names.ts';
import type { Playlist } from '../../../core/resources/playlist/resource.ts';
import { listPlayedParts } from '../../../core/resources/playlist/spec.ts';
import { type Scene, withScene } from '../../../core/resources/scene/resource.ts';
import { AUDIO_KBPS, bitrateKbps, formatProfile } from '../../../core/resources/stream/profile.ts';
import type { LoopStream } from '../../../core/resources/stream/resource.ts';
import { cardProfile } from '../../../core/resources/upload/card.ts';
import { findItemFacts, findLayerImage, resolveLayers } from '../../../core/resources/upload/layers.ts';
import { lookProfile } from '../../../core/resources/upload/look.ts';
import { soundProfile } from '../../../core/resources/upload/loudness.ts';
import type { Upload } from '../../../core/resources/upload/resource.ts';
import { slateProfile } from '../../../core/resources/upload/slate.ts';
import { resolveCard } from '../../../core/resources/upload/song-card.ts';
import { findRendition } from '../../../core/resources/upload/spec.ts';
import type { OwnedResources } from '../limits/owned-resources.ts';

const BYTES_OF_KBIT = 125;
/** In the place of the hash of a picture that is not imported yet: a look or a card with it is new anyway. */
const UNKNOWN_PICTURE = { key: '', sha256: 'unknown' };

type Stream = Pick<LoopStream, 'metadata' | 'spec'>;
interface Item {
  upload: Upload;
  playlist?: Playlist | undefined;
}

interface StorageDeps {
  uploads: Pick<OwnedResources<Upload>, 'find'>;
  playlists: Pick<OwnedResources<Playlist>, 'find'>;
  scenes: Pick<OwnedResources<Scene>, 'find'>;
}

/** Streams before and after an edit: one that is edited itself, or all that name an edited scene, with its layers (withScene). */
interface Edit {
  before: readonly Stream[];
  after: readonly Stream[];
}

/** Returns a function that estimates the bytes of an edit. An object that several streams ask for counts once. */
export function createStorageEstimate({ uploads, playlists, scenes }: StorageDeps) {
  const listItems = (accountId: string, names: readonly string[]): Item[] =>
    names.flatMap((name) => {
      const playlist = playlists.find(accountId, name);
      if (!playlist) return [];
      const parts = listPlayedParts(playlist, (one) => playlists.find(accountId, one));
      return parts.flatMap(({ playlist: list, uploadNames }) =>
        uploadNames.flatMap((uploadName) => {
          const upload = uploads.find(accountId, uploadName);
          return upload ? [{ upload, playlist: list }] : [];
        }),
      );
    });

  /** Lists the objects that a stream asks of its items, by upload and profile. */
  const listAsked = (accountId: string, stream: Stream): Map<string, number> => {
    const { uploadName, playlistNames = [], audioPlaylistNames = [] } = stream.spec;
    const single = uploadName === undefined ? undefined : uploads.find(accountId, uploadName);
    const videos = [...(single ? [{ upload: single }] : []), ...listItems(accountId, playlistNames)];
    const findPicture = (name: string) => {
      const upload = uploads.find(accountId, name);
      return (upload && findLayerImage(upload)) ?? UNKNOWN_PICTURE;
    };
    return new Map([
      ...listSlate(stream, (name) => uploads.find(accountId, name)),
      ...videos.flatMap((item) => listObjects(stream, item, findPicture)),
      ...listItems(accountId, audioPlaylistNames).flatMap((item) => [
        ...listSound(stream, item),
        ...listCard(stream, item, findPicture),
      ]),
    ]);
  };

  return ({ before, after }: Edit): number => {
    const accountId = after[0]?.metadata.labels?.[ACCOUNT_LABEL];
    if (accountId === undefined || isSameJson(before.map(pickAsked), after.map(pickAsked))) return 0;
    const listAll = (streams: readonly Stream[]) =>
      new Map(
        streams.flatMap((stream) => [
          ...listAsked(
            accountId,
            stream.spec.overlays?.layers ? stream : withScene(stream, (id) => scenes.find(accountId, id)),
          ),
        ]),
      );
    const had = listAll(before);
    const added = [...listAll(after)].filter(([object]) => !had.has(object));
    return added.reduce((sum, [, bytes]) => sum + bytes, 0);
  };
}

/** The fields of a stream that its objects follow from. */
const pickAsked = ({ spec }: Stream) => {
  const { displayName, uploadName, playlistNames, audioPlaylistNames, quality, framerate } = spec;
  const { overlays, slate, cards, loudness } = spec;
  const media = { displayName, uploadName, playlistNames, audioPlaylistNames, quality, framerate };
  return { ...media, overlays, slate, cards, loudness };
};

/** One object of an upload, and its bytes: 0 where it is made already, and where the length of the upload is not known yet. */
function sizeObject(
  upload: Upload,
  profile: string,
  kbps: number,
  lengthSeconds = upload.status?.media?.durationSeconds ?? 0,
): [string, number] {
  const isMade = findRendition(upload, profile)?.state === 'ready';
  const seconds = isMade ? 0 : lengthSeconds;
  return [`${upload.metadata.uid} ${profile}`, Math.ceil(seconds * kbps * BYTES_OF_KBIT)];
}

function listSound({ spec }: Stream, { upload }: Item): [string, number][] {
  const hasSound = spec.loudness && upload.status?.media?.audio;
  return hasSound && spec.loudness ? [sizeObject(upload, soundProfile(spec.loudness), AUDIO_KBPS)] : [];
}

/** Length of a slate or a card, in seconds. */
const STILL_SECONDS = 2;

/** One object that shows a still picture. */
function sizeStill({ spec }: Stream, upload: Upload, profile: string): [string, number] {
  const kbps = bitrateKbps(spec.quality, spec.framerate) + AUDIO_KBPS;
  const [object, bytes] = sizeObject(upload, profile, kbps, STILL_SECONDS);
  return [object, Math.min(bytes, MAX_CARD_BYTES)];
}

function listSlate(stream: Stream, findUpload: (name: string) => Upload | undefined): [string, number][] {
  const { slate, quality, framerate } = stream.spec;
  const upload = slate && findUpload(slate.uploadName);
  return upload ? [sizeStill(stream, upload, slateProfile(formatProfile(quality, framerate)))] : [];
}

type FindPicture = (name: string) => { key: string; sha256: string };

function listCard(stream: Stream, { upload }: Item, findPicture: FindPicture): [string, number][] {
  const { cards, quality, framerate } = stream.spec;
  const card = cards && resolveCard(cards, upload, findPicture);
  return card ? [sizeStill(stream, upload, cardProfile(formatProfile(quality, framerate), card))] : [];
}

/** A look has the pictures of its rendition, so it takes as much. */
function listObjects(stream: Stream, item: Item, findPicture: FindPicture): [string, number][] {
  const { upload, playlist } = item;
  const { quality, framerate, overlays } = stream.spec;
  const profile = formatProfile(quality, framerate);
  const kbps = findRendition(upload, profile)?.bitrateKbps ?? bitrateKbps(quality, framerate) + AUDIO_KBPS;
  const plain = sizeObject(upload, profile, kbps);
  const shown = upload.spec.overlays === 'None' ? undefined : overlays?.layers;
  const layers = shown && resolveLayers({ layers: shown }, findItemFacts(upload, stream, playlist), findPicture);
  const look = layers?.length ? [sizeObject(upload, lookProfile(profile, layers), kbps)] : [];
  return [plain, ...look, ...(stream.spec.audioPlaylistNames?.length ? [] : listSound(stream, item))];
}
