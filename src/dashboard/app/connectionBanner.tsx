import { IconWifiOff } from '@tabler/icons-react';
import { useLostAt, useNow } from '../api/context.tsx';
import { formatAgo } from '../lib/format.ts';
import { Banner } from '../ui/banner.tsx';

/** Stands on every page while the server does not answer. The page is then as old as the banner says. */
export function ConnectionBanner() {
  const lostAt = useLostAt();
  const now = useNow(lostAt !== undefined);
  if (lostAt === undefined) return null;
  return (
    <Banner icon={IconWifiOff}>
      Connection lost <time>{formatAgo(new Date(lostAt), new Date(now))}</time>. The page retries. Your streams keep
      running without it.
    </Banner>
  );
}
