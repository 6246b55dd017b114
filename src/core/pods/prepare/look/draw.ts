/**
 * Draws the layers of a look: each is a PNG with transparency, of the size that it has in the frame. Texts are drawn by draw-text
 * (native/draw-text.c), and pictures are scaled by ffmpeg, both in the cage. No text is in an argument, so none can be an option or a filter.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { MediaLimits } from '../../../protocol/media-limits.ts';
import type { ImageLayer, ResolvedLayer, Show, TextLayer } from '../../../resources/upload/overlays.ts';
import { MAX_IMAGE_PIXELS } from '../../../resources/upload/spec.ts';
import { PrepareError } from '../failure/failure.ts';
import type { MediaTools } from '../inspect/ffprobe.ts';
import { openImage } from '../inspect/image.ts';
import type { VideoStream } from '../inspect/source.ts';
import { hasAlpha, uprightFilters } from '../inspect/stills.ts';
import { type MediaTool, startTool, ToolError, type ToolInput } from '../tools/tool.ts';
import { openInput } from '../tools/untrusted-input.ts';
import { chooseMatrix, turnArgs } from '../transcode/plan.ts';
import {
  cleanText,
  imageBounds,
  type LayerBox,
  parseBox,
  placeLayer,
  readPngSize,
  type Size,
  textArgs,
} from './place.ts';

/** A layer takes a second on a slow machine. */
const LAYER_MS = 60_000;

export interface LookTools extends MediaTools {
  drawText: MediaTool;
}

export interface DrawOptions {
  tools: LookTools;
  signal: AbortSignal;
  limits: MediaLimits;
  /** Gets the pictures. The tools can read it. */
  dir: string;
  /** Runs `use` with the path of a local file that holds the picture of a layer. */
  withImage: <T>(layer: ImageLayer, use: (path: string) => Promise<T>) => Promise<T>;
}

export interface DrawnLayer extends Size {
  /** The PNG. */
  path: string;
  /** Place of its upper left corner in the frame, which may be outside. */
  x: number;
  y: number;
  show?: Show | undefined;
}

interface Picture {
  bytes: Buffer;
  size: Size;
  /** The part of it that is put at the anchor. */
  box: LayerBox;
}

/**
 * Resolves with the layers in their order, without those that show nothing. Rejects with PrepareError where a layer cannot be drawn, with
 * ToolError where a tool was killed, or with the signal's reason.
 */
export async function drawLook(
  layers: readonly ResolvedLayer[],
  frame: Size,
  options: DrawOptions,
): Promise<DrawnLayer[]> {
  const drawn: DrawnLayer[] = [];
  for (const [index, layer] of layers.entries()) {
    const picture = await drawLayer(layer, index, frame, options);
    if (!picture) continue;
    const path = join(options.dir, `layer-${index}.png`);
    await writeFile(path, picture.bytes);
    drawn.push({ path, ...picture.size, ...placeLayer(layer, picture.box, frame), show: layer.show });
  }
  return drawn;
}

/** Names the layer in a refusal: the file that is prepared is not to blame. */
async function drawLayer(layer: ResolvedLayer, index: number, frame: Size, options: DrawOptions) {
  const name = `overlay ${index + 1}`;
  const timeout = AbortSignal.timeout(LAYER_MS);
  const within = { ...options, signal: AbortSignal.any([options.signal, timeout]) };
  try {
    if ('text' in layer) return await drawText(layer, frame, within);
    return await options.withImage(layer, (path) => drawImage(path, layer, frame, within));
  } catch (error) {
    options.signal.throwIfAborted();
    if (timeout.aborted)
      throw new PrepareError('prepare_failed', `Drawing ${name} took longer than ${LAYER_MS / 1000} s.`);
    if (error instanceof PrepareError)
      throw new PrepareError(error.code, `This is the picture of ${name}. ${findDetail(error)}`.trim(), {
        cause: error,
      });
    if (!(error instanceof ToolError) || error.killed) throw error;
    const why = /^draw-text: (.*)$/m.exec(error.stderr)?.[1] ?? error.message;
    const detail = `The ${'text' in layer ? 'text' : 'picture'} of ${name} cannot be drawn: ${why}.`;
    throw new PrepareError('prepare_failed', detail, { cause: error });
  }
}

const findDetail = ({ message, code }: PrepareError): string => message.slice(new PrepareError(code).message.length);

async function* once(text: string): ToolInput {
  yield Buffer.from(text);
}

async function drawText(layer: TextLayer, frame: Size, options: DrawOptions): Promise<Picture | undefined> {
  const text = cleanText(layer.text);
  if (text === '') return undefined;
  const { bytes, said } = await runTool(options.tools.drawText, textArgs(layer, frame), frame, options, once(text));
  if (bytes.length === 0) return undefined;
  const box = parseBox(said);
  if (!box) throw new ToolError('draw-text did not say where its text is', false, said);
  return { bytes, size: checkPicture(bytes, frame), box };
}

async function drawImage(path: string, layer: ImageLayer, frame: Size, options: DrawOptions): Promise<Picture> {
  const { tools, signal, limits } = options;
  const source = await (await openImage(path, { tools, signal, limits })).openHeader();
  if (!source.video) throw new PrepareError('media_has_no_video');
  const args = [
    ...['-v', 'error', '-hide_banner', '-nostdin', '-threads', '1', '-max_pixels', String(MAX_IMAGE_PIXELS)],
    ...[...turnArgs(source), ...openInput(path, source.patches)],
    ...['-map', `0:${source.video.index}`, '-frames:v', '1', '-vf', imageFilters(source.video, layer, frame)],
    // As it is, a packet is a file.
    ...['-c:v', 'png', '-threads', '1', '-f', 'rawvideo', 'pipe:1'],
  ];
  const { bytes } = await runTool(tools.ffmpeg, args, frame, options);
  if (bytes.length === 0) throw new PrepareError('media_unreadable', 'Its picture cannot be decoded.');
  const size = checkPicture(bytes, frame);
  return { bytes, size, box: { x: 0, y: 0, ...size } };
}

/** Returns the filters: upright, in the shape in which it is shown, of the layer's size, and as transparent as the layer. */
function imageFilters(video: VideoStream, layer: ImageLayer, frame: Size): string {
  const { width, height } = imageBounds(layer, frame);
  const factor = `min(${width}/(iw*sar),${height}/ih)`;
  return [
    ...uprightFilters(video),
    `scale=in_color_matrix=${chooseMatrix(video)}`,
    // Otherwise the colours of transparent pixels, which nobody sees, would get into those beside them.
    ...(hasAlpha(video) ? ['format=gbrap', 'premultiply=inplace=1'] : []),
    `scale=w='max(1,round(iw*sar*${factor}))':h='max(1,round(ih*${factor}))':flags=bicubic`,
    ...(hasAlpha(video) ? ['unpremultiply=inplace=1'] : []),
    ...['format=rgba', `colorchannelmixer=aa=${layer.opacityPercent / 100}`, 'setsar=1'],
  ].join(',');
}

/** Runs a tool that writes a picture, which is no larger than the frame. Resolves with it, and with what the tool says beside it. */
async function runTool(tool: MediaTool, args: string[], frame: Size, { signal }: DrawOptions, input?: ToolInput) {
  const stop = new AbortController();
  const most = 8 * frame.width * frame.height + 65_536;
  const { stdout, done } = startTool(tool, args, AbortSignal.any([signal, stop.signal]), { input, isBackground: true });
  const pieces: Buffer[] = [];
  let size = 0;
  try {
    for await (const piece of stdout as AsyncIterable<Buffer>) {
      size += piece.length;
      if (size > most) throw new ToolError('its picture is larger than the frame', false, '');
      pieces.push(piece);
    }
  } catch (error) {
    stop.abort(error);
    throw error;
  }
  return { said: await done, bytes: Buffer.concat(pieces) };
}

/** Throws ToolError where the output of a tool, which opens files of strangers, is no PNG or is too large. A text may reach out of its frame. */
function checkPicture(bytes: Buffer, frame: Size): Size {
  const size = readPngSize(bytes);
  if (!size) throw new ToolError('its picture is no PNG', false, '');
  if (size.width > 2 * frame.width || size.height > 2 * frame.height)
    throw new ToolError('its picture is larger than the frame', false, '');
  return size;
}
