package input

import (
	"cmp"
	"fmt"
	"runtime"
	"strings"
	"unicode"
)

// key is a key of the US layout, with its names from UI Events.
type key struct {
	key, code string
	vk        int64  // Windows virtual key code, which pages read as keyCode
	text      string // the text it types; empty for keys that type none
	shift     bool   // needs Shift
}

// named are the keys that have a name rather than a character.
var named = func() map[string]key {
	keys := map[string]key{
		"Enter":          {"Enter", "Enter", 13, "\r", false},
		"Space":          {" ", "Space", 32, " ", false},
		"Shift":          {"Shift", "ShiftLeft", 16, "", false},
		"Control":        {"Control", "ControlLeft", 17, "", false},
		"Alt":            {"Alt", "AltLeft", 18, "", false},
		"Meta":           {"Meta", "MetaLeft", 91, "", false},
		"NumpadEnter":    {"Enter", "NumpadEnter", 13, "\r", false},
		"NumpadAdd":      {"+", "NumpadAdd", 107, "+", false},
		"NumpadSubtract": {"-", "NumpadSubtract", 109, "-", false},
		"NumpadMultiply": {"*", "NumpadMultiply", 106, "*", false},
		"NumpadDivide":   {"/", "NumpadDivide", 111, "/", false},
		"NumpadDecimal":  {".", "NumpadDecimal", 110, ".", false},
	}
	for name, vk := range map[string]int64{ // keys whose code is their name
		"Backspace": 8, "Tab": 9, "Pause": 19, "CapsLock": 20, "Escape": 27, "PageUp": 33, "PageDown": 34,
		"End": 35, "Home": 36,
		"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "PrintScreen": 44, "Insert": 45,
		"Delete": 46, "ContextMenu": 93,
	} {
		keys[name] = key{name, name, vk, "", false}
	}
	for n := int64(1); n <= 12; n++ {
		name := fmt.Sprintf("F%d", n)
		keys[name] = key{name, name, 111 + n, "", false}
	}
	return keys
}()

// punctuation lists the other keys: code, virtual key code, character without
// and with Shift.
var punctuation = []struct {
	code           string
	vk             int64
	plain, shifted rune
}{
	{"Minus", 189, '-', '_'}, {"Equal", 187, '=', '+'}, {"BracketLeft", 219, '[', '{'},
	{"BracketRight", 221, ']', '}'}, {"Backslash", 220, '\\', '|'}, {"Semicolon", 186, ';', ':'},
	{"Quote", 222, '\'', '"'}, {"Backquote", 192, '`', '~'}, {"Comma", 188, ',', '<'},
	{"Period", 190, '.', '>'}, {"Slash", 191, '/', '?'},
}

const shiftedDigits = ")!@#$%^&*("

// runeKey returns the key that types a character; ok is false if no key of the layout
// does.
func runeKey(c rune) (key, bool) {
	text := string(c)
	switch {
	case c == '\n' || c == '\r':
		return named["Enter"], true
	case c == '\t':
		return named["Tab"], true
	case c == ' ':
		return named["Space"], true
	case c >= 'a' && c <= 'z':
		return key{text, "Key" + strings.ToUpper(text), int64(unicode.ToUpper(c)), text, false}, true
	case c >= 'A' && c <= 'Z':
		return key{text, "Key" + text, int64(c), text, true}, true
	case c >= '0' && c <= '9':
		return key{text, "Digit" + text, int64(c), text, false}, true
	}
	if i := strings.IndexRune(shiftedDigits, c); i >= 0 {
		return key{text, fmt.Sprintf("Digit%d", i), int64('0' + i), text, true}, true
	}
	for _, p := range punctuation {
		if c == p.plain || c == p.shifted {
			return key{text, p.code, p.vk, text, c == p.shifted}, true
		}
	}
	return key{}, false
}

// codeKey returns the key with this code in UI Events: KeyA, Minus, Numpad1,
// ControlRight.
func codeKey(code string, shift bool) (key, bool) {
	for c := ' '; c < unicode.MaxASCII; c++ {
		if k, ok := runeKey(c); ok && k.code == code && k.shift == shift {
			return k, true
		}
	}
	if digit, ok := strings.CutPrefix(code, "Numpad"); ok && len(digit) == 1 && digit >= "0" && digit <= "9" {
		return key{digit, code, int64(digit[0]-'0') + 96, digit, false}, true
	}
	for _, side := range []string{"Left", "Right"} {
		if name, ok := strings.CutSuffix(code, side); ok && modifierBits[name] != 0 {
			k := named[name]
			k.code = code
			return k, true
		}
	}
	return key{}, false
}

// CDP's locations of keys that a keyboard has twice.
const (
	leftSide  = 1
	rightSide = 2
	numpad    = 3
)

func (k key) location() int64 {
	switch {
	case strings.HasPrefix(k.code, "Numpad"):
		return numpad
	case modifierBits[k.key] == 0:
		return 0
	case strings.HasSuffix(k.code, "Right"):
		return rightSide
	}
	return leftSide
}

// CDP's modifier bits (Input.dispatchKeyEvent).
const (
	altKey     = 1
	controlKey = 2
	metaKey    = 4
	shiftKey   = 8
)

var modifierBits = map[string]int64{"Alt": altKey, "Control": controlKey, "Meta": metaKey, "Shift": shiftKey}

func modifierMask(names []string) (int64, error) {
	var mask int64
	for _, name := range names {
		bit, ok := modifierBit(name)
		if !ok {
			return 0, fmt.Errorf("unknown modifier %q: Alt, Control, ControlOrMeta, Meta and Shift are known", name)
		}
		mask |= bit
	}
	return mask, nil
}

// keyNames are other names of keys, in lower case; keys count in any case.
var keyNames = func() map[string]string {
	names := map[string]string{
		"return": "Enter", "esc": "Escape", "del": "Delete", "ins": "Insert", "spacebar": "Space",
		"up": "ArrowUp", "down": "ArrowDown", "left": "ArrowLeft", "right": "ArrowRight", "pgup": "PageUp",
		"pgdn": "PageDown",
		"ctrl": "Control", "cmd": "Meta", "command": "Meta", "win": "Meta", "super": "Meta", "option": "Alt",
		"opt":           "Alt",
		"controlormeta": "ControlOrMeta", "mod": "ControlOrMeta",
	}
	for name := range named {
		names[strings.ToLower(name)] = name
	}
	return names
}()

// keyName is the name of a key in UI Events, given that or another name.
func keyName(name string) string { return cmp.Or(keyNames[strings.ToLower(name)], name) }

// KeyName is a key with its modifiers, as parseKey reads it, in UI Events' names:
// Control+a, Shift+ArrowDown.
func KeyName(spec string) string {
	k, modifiers, err := parseKey(spec)
	if err != nil {
		return spec
	}
	name := k.key
	if strings.HasPrefix(k.code, "Numpad") || name == " " {
		name = k.code
	}
	for _, modifier := range []string{"Shift", "Alt", "Meta", "Control"} {
		if modifiers&modifierBits[modifier] != 0 && modifier != name {
			name = modifier + "+" + name
		}
	}
	return name
}

// Character is what a key types, as parseKey reads it; empty: none that one sees.
func Character(spec string) string {
	k, modifiers, err := parseKey(spec)
	if err != nil || modifiers&(altKey|controlKey|metaKey) != 0 || k.text < " " {
		return ""
	}
	return k.text
}

func modifierBit(name string) (int64, bool) {
	name = keyName(name)
	if name == "ControlOrMeta" {
		name = "Control"
		if runtime.GOOS == "darwin" {
			name = "Meta"
		}
	}
	bit, ok := modifierBits[name]
	return bit, ok
}

// parseKey parses "Control+Shift+A", "Enter", "KeyA", "+" or "ß". It returns the
// modifiers in the text.
func parseKey(spec string) (key, int64, error) {
	var modifiers int64
	rest := spec
	for {
		name, after, found := strings.Cut(rest, "+")
		if !found || name == "" || after == "" {
			break
		}
		bit, ok := modifierBit(name)
		if !ok {
			break
		}
		modifiers |= bit
		rest = after
	}
	k, ok := named[keyName(rest)]
	if runes := []rune(rest); !ok && len(runes) == 1 {
		// Control+A is the key without Shift: with Shift, it is another shortcut.
		if modifiers&(altKey|controlKey|metaKey) != 0 && modifiers&shiftKey == 0 && runes[0] < unicode.MaxASCII {
			runes[0] = unicode.ToLower(runes[0])
		} else if modifiers&shiftKey != 0 {
			runes[0] = unicode.ToUpper(runes[0])
		}
		if k, ok = runeKey(runes[0]); !ok {
			k, ok = key{key: rest, text: rest}, true
		}
	}
	if !ok {
		k, ok = codeKey(rest, modifiers&shiftKey != 0)
	}
	if !ok {
		return key{}, 0, fmt.Errorf("unknown key %q: give a character or a name such as Enter, Escape, ArrowDown, F5, "+
			"with Control+, Shift+, Alt+ or Meta+ in front", spec)
	}
	return k, modifiers, nil
}
