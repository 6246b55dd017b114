import { expect, test } from 'vitest';
import { mayPlay } from '../../../../../../src/core/operator/upload/playable.ts';
import { SpeedMeter } from '../../../../../../src/core/pods/prepare/steps/speed-meter.ts';

/** Notes every quarter of a second what is made at a speed that changes; returns the meter and what is made. */
function make(...phases: { seconds: number; speed: number }[]) {
  const meter = new SpeedMeter();
  meter.note(0, 0);
  let [ms, made] = [0, 0];
  for (const { seconds, speed } of phases)
    for (let step = 0; step < 4 * seconds; step++) {
      ms += 250;
      made += speed / 4;
      meter.note(made, ms);
    }
  return { meter, made };
}

test('the speed is that of the last seconds', () => {
  expect(make({ seconds: 8, speed: 1.5 }).meter.speed).toBeCloseTo(1.5, 5);
  expect(make({ seconds: 3600, speed: 0.7 }, { seconds: 16, speed: 1.5 }).meter.speed).toBeCloseTo(1.5, 5);
  expect(make({ seconds: 3600, speed: 1.5 }, { seconds: 16, speed: 0 }).meter.speed).toBe(0);
});

test.each([600, 3600, 36_000])(
  'a film of %d s that is imported slowly can be played soon after the import',
  (total) => {
    const importSeconds = total / 100;
    let seconds = 0;
    const part = () => {
      const { meter, made } = make({ seconds: importSeconds, speed: 0.7 }, { seconds, speed: 1.5 });
      return { seconds: Math.floor(made / 30) * 30, totalSeconds: total, speed: meter.speed };
    };
    while (!mayPlay(part())) seconds++;
    expect(seconds).toBeLessThan(20);
  },
);

test('what was there before, or comes in no time from others, is no speed', () => {
  const meter = new SpeedMeter();
  expect(meter.speed).toBe(0);
  meter.note(3000, 5000);
  expect(meter.speed).toBe(0);
  meter.note(3030, 5001);
  expect(meter.speed).toBe(30);
  meter.note(3000, 15_000);
  expect(meter.speed).toBe(3);
});

test('any number of notes takes no room', () => {
  const meter = new SpeedMeter();
  for (let ms = 0; ms < 60_000; ms++) meter.note(ms, ms);
  expect(meter.speed).toBeCloseTo(1000, 0);
});
