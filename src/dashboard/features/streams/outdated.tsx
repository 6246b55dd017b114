/** Says that numbers on the page are older than they should be. */
import { useEffect, useState } from 'react';
import { formatAgo } from '../../lib/format.ts';
import forms from '../../ui/form.module.css';

/** Three readings have not come. */
const LATE_MS = 6_000;

/** `readAt` is by the clock of the browser, in milliseconds since the Unix epoch; 0 before the first reading. */
export function Outdated({ readAt }: { readAt: number }) {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  if (readAt === 0 || now - readAt < LATE_MS) return null;
  return (
    <p className={forms.warning} data-testid="outdated">
      Not up to date. These numbers were read {formatAgo(new Date(readAt), new Date(now))}.
    </p>
  );
}
