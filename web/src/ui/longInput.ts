// Keeps texts of megabytes out of every field of one line: browsers take minutes to lay them out.
// Editors have bounds of their own, and are not concerned.

/** Most characters that go into a field at once. */
export const MOST_AT_ONCE = 16_384;

/** `refused` hears how many characters were kept out. What the field held stays. */
export function refuseLongInput(refused: (characters: number) => void): void {
  const judge = (event: InputEvent) => {
    const isField =
      event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement;
    const characters = event.data?.length ?? 0;
    if (!isField || characters <= MOST_AT_ONCE) return;
    event.preventDefault();
    refused(characters);
  };
  document.addEventListener('beforeinput', judge, true);
}
