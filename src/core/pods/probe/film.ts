/**
 * Makes the media of a destination's test: black pictures and silence, small and even, which every ingest takes. The pictures are encoded
 * once and for all, so a test needs no encoder. Pure: no I/O, no clock.
 */
import { gunzipSync } from 'node:zlib';
import {
  encodeHeader,
  encodeMetaData,
  encodeTag,
  isAvcSequenceHeader,
  isVideoFrame,
  parseFlv,
  SILENT_FRAME,
  TAG_AUDIO,
  TAG_SCRIPT,
  TAG_VIDEO,
} from '../rendition/flv.ts';

/**
 * Two seconds of FLV, compressed: black in H.264, baseline, with a keyframe each second. A keyframe must differ from the one before in its
 * idr_pic_id (H.264, 7.4.3), so one second would not do. Made by `ffmpeg -f lavfi -i color=black:s=640x360:r=30 -t 2 -c:v libx264
 * -preset ultrafast -tune zerolatency -threads 1 -g 30 -bsf:v filter_units=remove_types=6 -f flv`.
 */
const BLACK = parseFlv(
  gunzipSync(
    Buffer.from(
      'H4sIAAAAAAACA+2VOyxDYRTHz/e492oMDESEUIu3UYgYFLFgpYuE0OhATBK2G4/EIoweSwdixIqkXeqRSEUMQkgYBCtWqds2EudL' +
        '+k9HQ7+cfLfJr3c4/Z3+T9/AkBBE5KPM1UKZU5a6RHesKvlM5ZPe81660ZdYL5Einbo+OoNHriAdThSde19t95FM/L4r0g8ZD60s' +
        'ddTWk09e5HZuR2bzla9/VU/eIN95f4xioprUVNdlhpucwJa/1q289D5WZHCPgbsaGZ4w8CjHywZ2Od4zcITjcwPHOH438BPDopDj' +
        'beK42cB+jgcNzPsWMwbmfYt1A/O+xaGBed/ixsC8b/FlYN63LDV+Ft63bDN9cxyEvuU89C23oW95An3LR+hbJqFv5Ye+VQD6VuPQ' +
        't1qCvtUu9K3OsvuWV6Te/u6X09DKggpvRKglWpfbyQdavv5bud4k36eHX/vggtFNMHD0AAwcPQ0DR6/BwNEHMHD0NQwc/QkDxyqB' +
        'gWO1wsCxhmHgWHMwcKxNuGCsY7hgrAe4YKxvuGDsarhg7C7o2x6Dvu1F6Nvegb7tOPRtv0LfTgH07TRA304/9O1MQd/OKvTt7Gfz' +
        '/QOemwgpCg0AAA==',
      'base64',
    ),
  ),
);
const AVC_HEADER = BLACK.find(isAvcSequenceHeader)?.body ?? Buffer.alloc(0);
const PICTURES = BLACK.filter(isVideoFrame).map(({ body }) => body);
const PICTURE_MS = 1000 / 30;
/** AudioSpecificConfig (ISO/IEC 14496-3, 1.6.2.1) of AAC-LC at 48 kHz in stereo, behind FLV's two bytes. */
const AAC_HEADER = Buffer.from('af001190', 'hex');
const SOUND_MS = 1024 / 48;

const META_DATA = {
  width: 640,
  height: 360,
  framerate: 30,
  videocodecid: 7,
  audiocodecid: 10,
  audiosamplerate: 48_000,
};

export class Film {
  #pictures = 0;
  #sounds = 0;

  /** Returns what an FLV stream begins with. */
  start(): Buffer {
    return Buffer.concat([
      encodeHeader({ audio: true, video: true }),
      encodeTag(TAG_SCRIPT, 0, encodeMetaData(META_DATA)),
      encodeTag(TAG_VIDEO, 0, AVC_HEADER),
      encodeTag(TAG_AUDIO, 0, AAC_HEADER),
    ]);
  }

  /** Returns the tags from the last ones that were taken up to `untilMs` milliseconds after the beginning, in their order. */
  take(untilMs: number): Buffer {
    const tags: Buffer[] = [];
    for (;;) {
      const [pictureMs, soundMs] = [this.#pictures * PICTURE_MS, this.#sounds * SOUND_MS];
      if (Math.min(pictureMs, soundMs) > untilMs) return Buffer.concat(tags);
      if (pictureMs <= soundMs) {
        const body = PICTURES[this.#pictures++ % PICTURES.length] ?? Buffer.alloc(0);
        tags.push(encodeTag(TAG_VIDEO, Math.round(pictureMs), body));
      } else {
        this.#sounds++;
        tags.push(encodeTag(TAG_AUDIO, Math.round(soundMs), SILENT_FRAME));
      }
    }
  }
}
