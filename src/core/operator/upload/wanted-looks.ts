/** Finds the looks and the cards that streams want of an upload. */
import type { Playlist } from '../../resources/playlist/resource.ts';
import { withScene } from '../../resources/scene/resource.ts';
import type { LoopStream } from '../../resources/stream/resource.ts';
import type { Upload } from '../../resources/upload/resource.ts';
import { BY_UPLOAD, type Caches, listPlayingKeys } from '../caches/caches.ts';
import { BY_LOOK, refer } from '../caches/look-index.ts';
import { findHold, isWaiting } from '../media/items.ts';
import { type ItemCard, type ItemLook, resolveItemCard, resolveLook } from '../media/looks.ts';
import { joinKey } from '../runtime/controller.ts';

/** A look that streams want of an upload. */
export interface WantedLook extends ItemLook {
  /** A stream that is to be on air waits for it. */
  urgent: boolean;
}

/** The looks that streams want of an upload which may go on air, those that a stream waits for first. */
export function listWantedLooks(
  caches: Pick<Caches, 'streams' | 'playlists' | 'uploads' | 'scenes'>,
  upload: Upload,
): WantedLook[] {
  const { namespace = '', name } = upload.metadata;
  const key = joinKey(namespace, name);
  const found = new Map<string, WantedLook>();
  const add = (named: LoopStream, playlist?: Playlist) => {
    if (findHold(named)) return;
    const stream = withScene(named, (scene) => caches.scenes.get(namespace, scene));
    const look = resolveLook(stream, { upload, playlist }, (image) => caches.uploads.get(namespace, image));
    if (look === undefined || look === 'waits') return;
    const waits = stream.spec.overlays?.required === true && isWaiting(stream);
    found.set(look.profile, { ...look, urgent: waits || found.get(look.profile)?.urgent === true });
  };
  for (const stream of caches.streams.byIndex(BY_LOOK, refer('upload', key))) add(stream);
  for (const playlist of caches.playlists.byIndex(BY_UPLOAD, key)) {
    for (const playing of listPlayingKeys(caches, joinKey(namespace, playlist.metadata.name)))
      for (const stream of caches.streams.byIndex(BY_LOOK, refer('playlist', playing))) add(stream, playlist);
  }
  return [...found.values()].sort((a, b) => Number(b.urgent) - Number(a.urgent) || a.profile.localeCompare(b.profile));
}

/** The cards that streams want of a song which may go on air. */
export function listWantedCards(caches: Pick<Caches, 'streams' | 'playlists' | 'uploads'>, upload: Upload): ItemCard[] {
  const { namespace = '', name } = upload.metadata;
  const found = new Map<string, ItemCard>();
  for (const playlist of caches.playlists.byIndex(BY_UPLOAD, joinKey(namespace, name))) {
    const playing = listPlayingKeys(caches, joinKey(namespace, playlist.metadata.name));
    for (const stream of playing.flatMap((one) => caches.streams.byIndex(BY_LOOK, refer('songs', one)))) {
      const card = findHold(stream)
        ? undefined
        : resolveItemCard(stream, upload, (image) => caches.uploads.get(namespace, image));
      if (card !== undefined && card !== 'waits') found.set(card.profile, card);
    }
  }
  return [...found.values()].sort((a, b) => a.profile.localeCompare(b.profile));
}
