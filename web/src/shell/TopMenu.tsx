// The menu that replaces parts of the top bar in a narrow window: links, themes, logout.
import { EllipsisVertical } from 'lucide-react';
import type { Place } from '../state/place';
import { go } from '../state/router';
import type { MenuItem } from '../ui/Menu';
import { MenuButton } from '../ui/MenuButton';
import { signOutAndLeave } from './entry';
import { chooseTheme, THEME_LABELS, THEMES, useTheme } from './theme';

export interface TopMenuProps {
  links: readonly { page: 'home' | 'metrics' | 'features'; label: string }[];
  place: Place;
  canSignOut: boolean;
}

export function TopMenu({ links, place, canSignOut }: TopMenuProps) {
  const theme = useTheme();
  const items: MenuItem[] = [
    ...links.map(({ page, label }) => ({
      label,
      isCurrent: place.page === page,
      onChoose: () => go({ page }),
    })),
    ...THEMES.map((name) => ({
      label: `Theme: ${THEME_LABELS[name]}`,
      isCurrent: theme === name,
      onChoose: () => chooseTheme(name),
    })),
  ];
  if (canSignOut)
    items.push({ label: 'Sign out', onChoose: () => void signOutAndLeave().catch(() => {}) });
  return (
    <MenuButton label="Menu" items={items} className="top-menu" title="Menu">
      <EllipsisVertical className="icon" />
      <span className="visually-hidden">Menu</span>
    </MenuButton>
  );
}
