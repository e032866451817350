// What both pages look like at the top: the emblem, and a button for light and dark.

const kThemes = {auto: '◐ auto', light: '☀ light', dark: '☾ dark'};

// Goes through the themes; the choice is remembered where the browser allows that.
function themeButton() {
  const modes = Object.keys(kThemes);
  let mode = Math.max(0, modes.indexOf(remembered('theme') ?? 'auto'));
  const button = html('button', {type: 'button', id: 'theme', class: 'small', onclick: () => {
    mode = (mode + 1) % modes.length;
    remember('theme', modes[mode]);
    show();
  }});
  const show = () => {
    button.textContent = kThemes[modes[mode]];
    button.setAttribute('aria-label', `Colours: ${modes[mode]}`);
    document.documentElement.dataset.theme = modes[mode];
  };
  show();
  return button;
}

// A snake that bites its tail.
function emblem() {
  return svg('svg', {viewBox: '0 0 40 40', class: 'emblem', 'aria-hidden': 'true'},
      svg('path', {d: 'M24.5 5.2 A15.5 15.5 0 1 1 12 6.8', fill: 'none', class: 'body'}),
      svg('path', {d: 'M12.2 3.2 C19 1 25 3.4 27.5 8 C22 10.6 16 11 11.4 8.4 Z', class: 'snout'}),
      svg('circle', {cx: 18.5, cy: 5.8, r: 1.1, class: 'eye'}));
}
