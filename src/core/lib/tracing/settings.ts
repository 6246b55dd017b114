/** Declares the settings of traces. Pure. */

export interface TracingSettings {
  /** `always_on` samples whatever the span above says; the others follow it, and decide where a trace begins. */
  sampler: 'always_on' | 'parentbased_always_on' | 'parentbased_always_off' | 'parentbased_traceidratio';
  /** The share of traces that a ratio samples, from 0 to 1. */
  ratio: number;
}
