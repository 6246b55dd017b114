/** Decides which look each item of a stream is to have, by the stream's overlays. Pure: no I/O, no clock. */

import type { ReadinessReason } from '../../lib/codes/streams.ts';
import { beginWith, callObject } from '../../resources/common/called.ts';
import type { Playlist } from '../../resources/playlist/resource.ts';
import { formatProfile } from '../../resources/stream/profile.ts';
import type { LoopStream } from '../../resources/stream/resource.ts';
import { findItemFacts, findLayerImage, listImageNames, resolveLayers } from '../../resources/upload/layers.ts';
import { lookProfile } from '../../resources/upload/look.ts';
import { findUploadName } from '../../resources/upload/name.ts';
import type { ResolvedLayer } from '../../resources/upload/overlays.ts';
import type { Upload } from '../../resources/upload/resource.ts';
import { findRendition } from '../../resources/upload/spec.ts';
import type { Finding } from '../runtime/controller.ts';

/** A look as it is wanted: the layers that make up its profile. */
export interface ItemLook {
  profile: string;
  layers: ResolvedLayer[];
}

type FindUpload = (name: string) => Upload | undefined;

/**
 * Returns the look that a stream wants of an item; undefined where it shows nothing over it, and `waits` while a picture of the overlays
 * cannot be had.
 */
export function resolveLook(
  stream: Pick<LoopStream, 'metadata' | 'spec'>,
  { upload, playlist }: { upload: Upload; playlist: Playlist | undefined },
  findUpload: FindUpload,
): ItemLook | 'waits' | undefined {
  const { overlays, quality, framerate } = stream.spec;
  if (!overlays || upload.spec.overlays === 'None') return undefined;
  const layers = resolveLayers(overlays, findItemFacts(upload, stream, playlist), (name) => {
    const image = findUpload(name);
    return image && findLayerImage(image);
  });
  if (!layers) return 'waits';
  return layers.length === 0 ? undefined : { profile: lookProfile(formatProfile(quality, framerate), layers), layers };
}

const finding = (reason: ReadinessReason, message: string): Finding => ({ reason, message });

function imageProblem(name: string, image: Upload | undefined): Finding | undefined {
  if (image && findLayerImage(image)) return undefined;
  const what = beginWith(callObject('upload', name, image && findUploadName(image)));
  if (!image) return finding('UploadNotFound', `${what}, a picture of the overlays, does not exist.`);
  const { media, error } = image.status ?? {};
  if (media)
    return finding('MediaFailed', `${what} is no picture for overlays: PNG, JPEG, WebP, GIF and BMP files are.`);
  if (!error) return finding('MediaImporting', `${what}, a picture of the overlays, is still being imported.`);
  return finding('MediaFailed', `${what}, a picture of the overlays, could not be imported: ${error.message}`);
}

/** Why a picture of a stream's overlays cannot be had; undefined where all can. */
export function findImageProblem({ spec }: Pick<LoopStream, 'spec'>, findUpload: FindUpload): Finding | undefined {
  const names = spec.overlays ? listImageNames(spec.overlays) : [];
  const found = names.flatMap((name) => imageProblem(name, findUpload(name)) ?? []);
  // A picture that is on its way needs nobody.
  return found.find(({ reason }) => reason !== 'MediaImporting') ?? found[0];
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
