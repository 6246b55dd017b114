/** Decides which look each item of a stream is to have, by the stream's overlays, and which card each song. Pure: no I/O, no clock. */

import type { ReadinessReason } from '../../lib/codes/streams.ts';
import { beginWith, callObject } from '../../resources/common/called.ts';
import type { Playlist } from '../../resources/playlist/resource.ts';
import { formatProfile } from '../../resources/stream/profile.ts';
import type { LoopStream } from '../../resources/stream/resource.ts';
import { type Card, cardProfile } from '../../resources/upload/card.ts';
import { findItemFacts, findLayerImage, listImageNames, resolveLayers } from '../../resources/upload/layers.ts';
import { lookProfile } from '../../resources/upload/look.ts';
import { findUploadName } from '../../resources/upload/name.ts';
import type { ResolvedLayer } from '../../resources/upload/overlays.ts';
import type { Upload } from '../../resources/upload/resource.ts';
import { slateProfile } from '../../resources/upload/slate.ts';
import { resolveCard } from '../../resources/upload/song-card.ts';
import { findRendition } from '../../resources/upload/spec.ts';
import type { Finding } from '../runtime/controller.ts';

/** A look as it is wanted: the layers that make up its profile. */
export interface ItemLook {
  profile: string;
  layers: ResolvedLayer[];
}

/** A card as it is wanted: what makes up its profile. */
export interface ItemCard {
  profile: string;
  card: Card;
}

type FindUpload = (name: string) => Upload | undefined;

/**
 * Returns the look that a stream wants of an item; undefined where it shows nothing over it, and `waits` while a picture of the overlays
 * or their scene cannot be had. Of a stream with a scene, `stream` has its layers (withScene).
 */
export function resolveLook(
  stream: Pick<LoopStream, 'metadata' | 'spec'>,
  { upload, playlist }: { upload: Upload; playlist: Playlist | undefined },
  findUpload: FindUpload,
): ItemLook | 'waits' | undefined {
  const { overlays, quality, framerate } = stream.spec;
  if (!overlays || upload.spec.overlays === 'None') return undefined;
  if (!overlays.layers) return 'waits';
  const layers = resolveLayers({ layers: overlays.layers }, findItemFacts(upload, stream, playlist), (name) => {
    const image = findUpload(name);
    return image && findLayerImage(image);
  });
  if (!layers) return 'waits';
  return layers.length === 0 ? undefined : { profile: lookProfile(formatProfile(quality, framerate), layers), layers };
}

/**
 * Returns the card that a stream wants of a song; undefined where it shows none, and `waits` while the picture behind the words cannot be
 * had.
 */
export function resolveItemCard(
  { spec }: Pick<LoopStream, 'spec'>,
  song: Upload,
  findUpload: FindUpload,
): ItemCard | 'waits' | undefined {
  if (!spec.cards) return undefined;
  const card = resolveCard(spec.cards, song, (name) => {
    const image = findUpload(name);
    return image && findLayerImage(image);
  });
  return card ? { profile: cardProfile(formatProfile(spec.quality, spec.framerate), card), card } : 'waits';
}

const finding = (reason: ReadinessReason, message: string): Finding => ({ reason, message });

/** `role`: what the picture is. */
function imageProblem(name: string, image: Upload | undefined, role: string): Finding | undefined {
  if (image && findLayerImage(image)) return undefined;
  const what = beginWith(callObject('upload', name, image && findUploadName(image)));
  if (!image) return finding('UploadNotFound', `${what}, ${role}, does not exist.`);
  const { media, error } = image.status ?? {};
  if (media) return finding('MediaFailed', `${what}, ${role}, is no picture: PNG, JPEG, WebP, GIF and BMP files are.`);
  if (!error) return finding('MediaImporting', `${what}, ${role}, is still being imported.`);
  return finding('MediaFailed', `${what}, ${role}, could not be imported: ${error.message}`);
}

/** Why a picture of a stream's overlays, or their scene, cannot be had; undefined where all can. */
export function findImageProblem(
  { spec: { overlays } }: Pick<LoopStream, 'spec'>,
  findUpload: FindUpload,
): Finding | undefined {
  if (overlays?.sceneName !== undefined && !overlays.layers) {
    const what = beginWith(callObject('scene', overlays.sceneName));
    return finding('UploadNotFound', `${what}, which has the overlays of the stream, does not exist.`);
  }
  const found = listImageNames(overlays).flatMap(
    (name) => imageProblem(name, findUpload(name), 'a picture of the overlays') ?? [],
  );
  // A picture that is on its way needs nobody.
  return found.find(({ reason }) => reason !== 'MediaImporting') ?? found[0];
}

/** Why the picture behind the cards of a stream cannot be had; undefined where it can. */
export function findBackgroundProblem({ spec }: Pick<LoopStream, 'spec'>, findUpload: FindUpload): Finding | undefined {
  const name = spec.cards?.imageUploadName;
  return name === undefined ? undefined : imageProblem(name, findUpload(name), 'the picture behind the cards');
}

/** Why the picture of a stream's own slate cannot be had; undefined where it can, or is on its way. */
export function findSlateProblem({ spec }: Pick<LoopStream, 'spec'>, findUpload: FindUpload): Finding | undefined {
  if (!spec.slate) return undefined;
  const { uploadName: name } = spec.slate;
  const [image, role] = [findUpload(name), 'the picture of the slate'];
  const problem = imageProblem(name, image, role);
  const made = image && findRendition(image, slateProfile(formatProfile(spec.quality, spec.framerate)));
  if (problem || made?.state !== 'failed') return problem;
  const what = beginWith(callObject('upload', name, image && findUploadName(image)));
  return finding('MediaFailed', `${what}, ${role}, could not be prepared: ${made.error?.message ?? ''}`.trim());
}

/** Why an item of a stream cannot be shown as its overlays ask, where it is not to be shown without them. `what` names the item. */
export function findLookProblem(
  what: string,
  upload: Upload,
  look: ReturnType<typeof resolveLook>,
  image: Finding | undefined,
): Finding | undefined {
  if (look === undefined) return undefined;
  if (look === 'waits') return image && { ...image, message: `${what} waits for its overlays. ${image.message}` };
  const made = findRendition(upload, look.profile);
  if (made?.state === 'ready') return undefined;
  return made?.state === 'failed'
    ? finding('MediaFailed', `${what} could not be prepared with its overlays: ${made.error?.message ?? ''}`.trim())
    : finding('MediaPreparing', `${what} is being prepared with its overlays.`);
}
