// Whether the window is as narrow as a phone: the bar above the list becomes a menu, and the grid
// has fewer columns. The style sheets of this folder use the same width.
import { useMedia } from '../../ui/useMedia';

export function usePhone(): boolean {
  return useMedia('(max-width: 600px)');
}
