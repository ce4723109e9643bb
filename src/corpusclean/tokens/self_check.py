"""The texts on which an accelerated tokenizer has to agree with the reference.

Every script, odd white space, marks, emoji, numbers, code, markup, control characters, long runs,
and the texts of the tokenizer's own special tokens in the middle of prose.
"""

from collections.abc import Iterable

__all__ = ["check_texts"]

_SENTENCES = (
    "The kettle's whistle woke everyone; they'll say it didn't, but I'd heard it. We've proof!",
    "HE SAID: \"It's 7:45 A.M.\" -- don't you're I'M WE'LL O'Brien's 'quoted' 'tis",
    "À Noël, l'œuvre naïve coûtait 3 000 € (« presque rien »), çà et là.",
    "Größere Straßen führen über Brücken; GROSSE STRAẞEN auch.",
    "El niño comió piñas, ¿no? ¡Sí! Mañana será otro día.",
    "Zażółć gęślą jaźń. Příliš žluťoučký kůň. Şişli'de ığdır, İstanbul.",
    "Tiếng Việt có nhiều dấu: ế, ữ, ặ, ợ, ỹ.",
    "Съешь ещё этих мягких булок, да выпей чаю. Ґанок, їжак, ўсё.",
    "Η γάτα κοιμάται στον ήλιο· ὁ σοφὸς λέγει ταῦτα.",
    "השכן הביא לחם חם. שָׁלוֹם עֲלֵיכֶם",
    "اشترى الجار خبزًا ساخنًا. گفت: «می‌روم». ١٢٣ ۴۵۶",
    "पड़ोसी गरम रोटी लाया। क्षत्रिय, ज्ञान, १२३",
    "প্রতিবেশী গরম রুটি আনল। অ্যাপ",
    "பக்கத்து வீட்டுக்காரர் ரொட்டி கொண்டு வந்தார்.",
    "ఇంటి పక్కవారు రొట్టె తెచ్చారు. ಕನ್ನಡ ಮಲೆಯാളം മലയാളം ગુજરાતી ਪੰਜਾਬੀ සිංහල",
    "เพื่อนบ้านนำขนมปังร้อนมาให้ ๑๒๓",
    "ເພື່ອນບ້ານ ភ្នំពេញ မြန်မာစာ བོད་ཡིག",
    "邻居带来了热面包，大家都很高兴。１２３ＡＢＣ「引用」",
    "隣の人が温かいパンを持ってきた。ｶﾀｶﾅ、ー、々、か\u3099。",
    "이웃이 따뜻한 빵을 가져왔다. \u1112\u1161\u11ab\u1100\u1173\u11af",
    "მეზობელმა პური მოიტანა. Հարևանը հաց բերեց։ ጎረቤቱ ዳቦ አመጣ።",
    "ᏣᎳᎩ ᐃᓄᒃᑎᑐᑦ ⴰⵎⴰⵣⵉⵖ 𐐔𐐯𐑅𐐨𐑉𐐯𐐻 𞤀𞤁𞤂 𒀀𒀁 𓀀𓀁",
    "e\u0301 ä\u0308\u0323 Z̸̢͓͗a̷͚͑l̵͓̈́g̶͚̃o̴̝͌ \u0301start",
    "😀😃 👩‍👩‍👧‍👦 🏳️‍🌈 👍🏽 🇩🇪🇯🇵 1️⃣ ©️ ™ ❤️",
    "∑∫√∞ ≤≥≠ α→β ½⅓ x²+y³=z⁴ Ⅷ ① ﬁ ﬂ №",
    "1 12 123 1234 12345 123456789 3.14159 1,000,000 0x1F 1e-9 ٣٫١٤ ①②③ v2.0.1-rc3 12:30",
    "def f(x, *, y=None):\n    \"\"\"Doc.\"\"\"\n\treturn {'k': [x]}  # ok\n\n\nclass A(B): ...\n",
    "#include <stdio.h>\r\nint main(void) {\r\n\tprintf(\"%d\\n\", 42);\r\n}\r\n",
    '{"a": [1, 2.5, null, true], "b": {"c": "d\\u00e9"}}',
    "<p class=\"x\">a &amp; b</p><br/><!-- c --> https://example.org/a?b=c&d=%20#f me@example.org",
    "snake_case camelCase PascalCase SCREAMING_CASE kebab-case path/to/file.txt C:\\dir\\x",
    "a  b   c    d     e\t\tf\n\n\n\ng \n h\r\r\ni\u00a0j\u2003k\u3000l\u2028m\u0085n\u200bo\ufeff",
    "   leading", "trailing   ", "\n", "\n\n", " ", "  ", "\t", "\r\n", " \n ", "\u3000", "",
    "x", "é", "漢", "😀", ".", "...", "......", "'", "''", "'s", " 's", "--------", "====\n====",
    "\x00\x01\x07\x1b[0m\x7f\x80\u0600\u2066\ufffd\ufffe\U0010ffff\ue000",
    "lowercaseUPPERCASE123digits!!!???...;;;:::,,,  \n  mixed",
    "antidisestablishmentarianism Donaudampfschifffahrtsgesellschaftskapitän lorem" + "ipsum" * 40,
    "a" * 300, "ab" * 200, "0" * 200, " " * 200, "\n" * 100, "!" * 150, "漢字" * 100, "😀" * 60,
    "A lower And UPPER aNd mIxEd", "I'Ll HE'S she'd'VE", "don’t it’s l’été", "…—–“”‘’«»‹›",
)  # fmt: skip


def check_texts(special: Iterable[str]) -> list[str]:
    """Return the texts, among them each special token alone, in prose and in a word."""
    texts = list(_SENTENCES)
    for token in special:
        texts += [token, f"before {token} after", f"in{token}{token}side\n{token}"]
    texts.append("\n".join(_SENTENCES))
    return texts
