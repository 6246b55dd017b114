/** The overlays of a stream in its forms. The fields are loaded with the first form that has them. */
import { Skeleton } from '@mantine/core';
import { lazy, type ReactNode, Suspense } from 'react';
import type { StreamOverlays } from '../overlays/layers.ts';
import type { StreamChoices } from './choices.ts';
import { findScene, type SceneMedia } from './overlayScene.ts';

const StreamOverlaysField = lazy(() =>
  import('../scenes/streamField.tsx').then(({ StreamOverlaysField: Field }) => ({ default: Field })),
);

interface OverlaysSectionProps {
  value: StreamOverlays;
  onChange: (overlays: StreamOverlays) => void;
  error: ReactNode;
  choices: StreamChoices;
  media: SceneMedia;
  /** Of a stream that plays already. */
  posterUrl?: string | null;
}

export const OverlaysSection = ({ choices, media, posterUrl = null, ...field }: OverlaysSectionProps) => (
  <Suspense fallback={<Skeleton height={88} />}>
    <StreamOverlaysField uploads={choices.uploads} {...field} {...findScene(media, choices, { posterUrl })} />
  </Suspense>
);
