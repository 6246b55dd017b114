/** Resolves the card of a song for a stream: its words, and the picture behind them. Pure: no I/O, no clock. */
import type { Card, SongCards } from './card.ts';
import { type FactsUpload, findItemWords, type LayerImage } from './layers.ts';
import { cleanTag } from './tags.ts';

/** Returns what the card of a song shows; undefined while the picture behind it cannot be had. */
export function resolveCard(
  { imageUploadName }: SongCards,
  song: FactsUpload,
  findImage: (uploadName: string) => LayerImage | undefined,
): Card | undefined {
  const { title, artist } = findItemWords(song);
  const words = { title: cleanTag('title', title) ?? '', artist: cleanTag('artist', artist) ?? '' };
  if (imageUploadName === undefined) return words;
  const image = findImage(imageUploadName);
  return image && { ...words, background: { imageKey: image.key, imageSha256: image.sha256 } };
}
