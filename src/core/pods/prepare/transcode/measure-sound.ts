/** Measures how loud a sound is (EBU R 128), and its true peak (ITU-R BS.1770), by decoding it. */
import { PrepareError } from '../failure/failure.ts';
import { UNTRUSTED_INPUT } from '../tools/untrusted-input.ts';
import type { SoundMeasure } from './gain.ts';
import { MEASURE_ARGS, type PlanInput, planRendition } from './plan.ts';
import { runFfmpeg, type TranscodeOptions } from './transcode.ts';

type Options = Pick<TranscodeOptions, 'ffmpeg' | 'signal' | 'openInput'> & {
  /** Called with the seconds that are measured. */
  onSeconds?: (seconds: number) => void;
};

/** Its report of every tenth of a second is left out. */
const METER = 'ebur128=peak=true:framelog=verbose';

/** Nothing passes the gate of the measurement: silence, or sound of less than 0.4 s. */
const SILENCE_LUFS = -70;

/** Measures the sound that becomes the rendition of `input`. Rejects as runFfmpeg() does. */
export function measureSource(input: PlanInput, options: Options): Promise<SoundMeasure> {
  const { args } = planRendition({ ...input, allowCopy: false, alone: { filters: [METER], isMeasured: true } });
  return measure(args, options);
}

/** Measures a rendition whose bytes come by `openInput`. Rejects as runFfmpeg() does. */
export function measureRendition(options: Options): Promise<SoundMeasure> {
  const args = ['-v', 'info', '-hide_banner', '-nostdin', ...UNTRUSTED_INPUT, '-f', 'flv', '-i', 'pipe:0'];
  return measure([...args, '-map', '0:a:0', '-af', METER, ...MEASURE_ARGS], options);
}

async function measure(args: string[], { onSeconds, ...options }: Options): Promise<SoundMeasure> {
  const stderr = await runFfmpeg(args, options, async (stdout) => {
    for await (const bytes of stdout) {
      const [, microseconds] = /^out_time_us=(\d+)/m.exec(bytes.toString('latin1')) ?? [];
      if (microseconds !== undefined) onSeconds?.(Number(microseconds) / 1e6);
    }
  });
  return parseSummary(stderr);
}

const MEASURE = /^ +(I|Peak|LRA): +(-?[\d.]+)/gm;

/** Reads ffmpeg's last words. Throws PrepareError where they do not say it. */
export function parseSummary(stderr: string): SoundMeasure {
  const summary = stderr.slice(Math.max(0, stderr.lastIndexOf('Summary:')));
  const found = new Map([...summary.matchAll(MEASURE)].map(([, name, value]) => [name, Number(value)]));
  const read = (name: string) => found.get(name) ?? Number.NaN;
  const integratedLufs = read('I');
  const truePeakDb = read('Peak');
  const rangeLu = read('LRA');
  if (integratedLufs <= SILENCE_LUFS) return {};
  if (![integratedLufs, truePeakDb, rangeLu].every(Number.isFinite))
    throw new PrepareError('prepare_failed', 'Its loudness could not be measured.');
  return { integratedLufs, truePeakDb, rangeLu };
}
