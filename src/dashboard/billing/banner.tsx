import { IconCreditCard } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import shell from '../shell/shell.module.css';
import { useBilling } from './queries.ts';
import { outlookOf } from './words.ts';

const URGENT: readonly string[] = ['low', 'exhausted', 'suspended'];

/** On every page, while credit is running out. */
export function CreditBanner() {
  const { data } = useBilling();
  if (!data || !URGENT.includes(data.state)) return null;
  return (
    <div className={shell.banner} role="status" data-testid="credit-banner">
      <IconCreditCard size={18} aria-hidden />
      <span>
        Your credit is {data.state === 'low' ? 'running out' : 'over'}. {outlookOf(data)}{' '}
        <Link to="/billing">Billing</Link>
      </span>
    </div>
  );
}
