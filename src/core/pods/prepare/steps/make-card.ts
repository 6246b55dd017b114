/**
 * Makes a GOP of one picture that stays, with silence: the card of a song, with its cover, title and artist, or the slate that an image is
 * made into.
 */
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import { DIMENSIONS } from '../../../resources/stream/profile.ts';
import type { Card } from '../../../resources/upload/card.ts';
import { MAX_IMAGE_PIXELS } from '../../../resources/upload/spec.ts';
import { AUDIO_SAMPLE_RATE, MAX_CARD_BYTES } from '../../rendition/format.ts';
import type { RenditionIndex } from '../../rendition/index.ts';
import { withScratchFile } from '../../storage/scratch.ts';
import { PrepareError } from '../failure/failure.ts';
import { openSource } from '../inspect/open-source.ts';
import type { Source } from '../inspect/source.ts';
import { type Background, cardGraph, layOutCard } from '../look/card-layout.ts';
import { takeCover } from '../look/cover.ts';
import { type DrawnLayer, drawLook } from '../look/draw.ts';
import { inputPath, openInput, UNTRUSTED_INPUT } from '../tools/untrusted-input.ts';
import { encoderArgs, gopFrames, OUTPUT_ARGS, SOUND_ENCODER_ARGS, turnArgs } from '../transcode/plan.ts';
import { RenditionOutput } from '../transcode/rendition-output.ts';
import { transcode } from '../transcode/transcode.ts';
import type { JobContext } from './context.ts';
import type { Opened } from './open.ts';

/** Colour of a card without any picture. */
const PLAIN_COLOR = '0x20242C';
/** Best quantizers that the encoder may choose: the next one is taken where a card is too large. They are in no header of the pictures. */
const QUANTIZERS = [16, 24, 32, 40];
/** The first picture takes at most about so much of the encoder's buffer, which is full as a rule, in kbit. */
const FIRST_PICTURE_KBIT = 4000;
/** More silence than pictures: the end is cut exactly. */
const SILENCE_SECONDS = 4;

/** Resolves with the index, which is not written yet. Rejects with PrepareError, StorageError or the signal's reason. */
export function makeCard(opened: Opened, card: Card, context: JobContext): Promise<RenditionIndex> {
  const { file, shape } = opened;
  const { storage, tools, signal, limits, inputDir = tmpdir() } = context;
  const frame = DIMENSIONS[shape.quality];
  return withScratchFile(inputDir, async (path) => {
    const cover = await takeCover(file.path, await file.openHeader(), { tools, signal, maxPixels: limits.pixels });
    if (cover) await writeFile(path, cover.bytes);
    const layers = await drawLook(layOutCard(card, cover), frame, {
      ...{ tools, signal, limits, dir: dirname(path) },
      withImage: (_, use) => use(path),
    });
    const drawOn = async (picture: string, fill: Background['fill']) =>
      await encode(opened, { layers, picture, source: await openPicture(picture, context), fill }, context);
    if (card.background) return await storage.withLocalFile(card.background.imageKey, (at) => drawOn(at, 'cut'));
    return cover ? await drawOn(path, 'blurred') : await encode(opened, { layers }, context);
  });
}

/** Resolves with the index of the source's first picture as a slate, as makeCard() does. */
export async function makeSlate(opened: Opened, context: JobContext): Promise<RenditionIndex> {
  const picture = opened.file.path;
  const source = await openPicture(picture, context);
  return await encode(opened, { layers: [], picture, source, fill: 'whole' }, context);
}

const openPicture = async (path: string, { tools, signal, limits }: JobContext): Promise<Source> =>
  await openSource(path, 'video', { tools, signal, limits: { ...limits, pixels: MAX_IMAGE_PIXELS } });

interface Parts {
  layers: readonly DrawnLayer[];
  /** Path of the background. */
  picture?: string;
  source?: Source;
  fill?: Background['fill'];
}

/** Tries lower qualities until the card is small enough. */
async function encode(opened: Opened, parts: Parts, context: JobContext): Promise<RenditionIndex> {
  for (const quantizer of QUANTIZERS) {
    const output = openOutput(opened, context);
    try {
      const index = await run(opened, parts, quantizer, output, context);
      if (index.sizeBytes <= MAX_CARD_BYTES) {
        await output.approve();
        return index;
      }
    } catch (error) {
      await output.stop();
      await output.dropUnlisted();
      throw error;
    }
    await output.dropUnlisted();
  }
  throw new PrepareError('prepare_failed', 'The picture is too large, even at the lowest quality.');
}

const openOutput = ({ target, shape }: Opened, { storage }: JobContext): RenditionOutput =>
  new RenditionOutput({
    storage,
    ...{ renditionKey: target.renditionKey, profile: target.profile, framerate: shape.framerate },
    expectedFrames: gopFrames(shape.framerate),
    keepsSameOnly: true,
    provisional: true,
  });

async function run(
  { shape }: Opened,
  parts: Parts,
  quantizer: number,
  output: RenditionOutput,
  { tools, signal, log, onProgress }: JobContext,
): Promise<RenditionIndex> {
  const { framerate } = shape;
  const videoFrames = gopFrames(framerate);
  return await transcode(cardArgs(shape, parts, quantizer), output, {
    ...{ ffmpeg: tools.ffmpeg, signal, log, framerate, seconds: videoFrames / framerate },
    most: { seconds: 2 * SILENCE_SECONDS, bytes: 64 * MAX_CARD_BYTES },
    mending: { sound: true, videoFrames },
    ...(onProgress && { onProgress }),
  });
}

function cardArgs(shape: Opened['shape'], { layers, picture, source, fill = 'cut' }: Parts, quantizer: number) {
  const { quality, framerate } = shape;
  const frame = DIMENSIONS[quality];
  const { width, height } = frame;
  const plain = ['-f', 'lavfi', '-i', `color=c=${PLAIN_COLOR}:s=${width}x${height}:r=25:d=0.04`];
  const behind =
    picture === undefined || !source
      ? plain
      : [...turnArgs(source), '-max_pixels', String(MAX_IMAGE_PIXELS), ...openInput(picture, source.patches)];
  const background: Background | undefined = source?.video && { video: source.video, fill };
  const silence = `anullsrc=r=${AUDIO_SAMPLE_RATE}:cl=stereo`;
  return [
    ...['-v', 'error', '-hide_banner', '-nostdin', ...behind],
    ...layers.flatMap(({ path }) => [...UNTRUSTED_INPUT, '-i', inputPath(path)]),
    ...['-t', String(SILENCE_SECONDS), '-f', 'lavfi', '-i', silence],
    ...['-filter_complex', cardGraph(background, layers, frame), '-map', '[card]', '-map', `${layers.length + 1}:a`],
    ...['-fps_mode', 'cfr', '-r', String(framerate), '-frames:v', String(gopFrames(framerate))],
    ...[...encoderArgs(shape), '-qmin', String(quantizer), '-x264-params', `vbv-init=${FIRST_PICTURE_KBIT}`],
    ...[...SOUND_ENCODER_ARGS, ...OUTPUT_ARGS],
  ];
}
