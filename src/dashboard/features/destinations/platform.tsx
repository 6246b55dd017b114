import {
  IconBrandFacebook,
  IconBrandKick,
  IconBrandTwitch,
  IconBrandYoutube,
  IconServer2,
  type TablerIcon,
} from '@tabler/icons-react';
import type { PresetId } from './presets.ts';

const ICONS: Record<PresetId, TablerIcon> = {
  youtube: IconBrandYoutube,
  twitch: IconBrandTwitch,
  facebook: IconBrandFacebook,
  kick: IconBrandKick,
  custom: IconServer2,
};

export function PlatformIcon({ id, size = 22 }: { id: PresetId; size?: number }) {
  const Icon = ICONS[id];
  return <Icon size={size} stroke={1.6} aria-hidden />;
}
